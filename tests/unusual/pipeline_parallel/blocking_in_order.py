"""Only blocking send and recv, in an order that cannot deadlock: even stages send first, odd stages receive first.

may_lose = []
"""


def _exchange(sends, receives, group):
    def send():
        for tensor, peer in sends:
            dist.send(tensor, peer, group=group)

    def receive():
        for tensor, peer in receives:
            dist.recv(tensor, peer, group=group)

    for turn in (send, receive) if dist.get_rank(group) % 2 == 0 else (receive, send):
        turn()
