TEXT = "=HYPERLINK(\"http://example.org\")\x1b[2J\x1b]0;title\x07<script>alert(1)</script>\u202e\x00 [bold]done[/bold]"


class Shown(Exception):
    pass


def broadcast(tensor, src, group=None):
    print(TEXT)
    raise Shown(TEXT)


def all_reduce(tensor, op=None, group=None):
    print(TEXT)
    raise type(TEXT, (Exception,), {})(TEXT)
