"""The table's times are milliseconds under a heading of microseconds.

mistake = 22
loses = ["bandwidth.format_table"]
says = ["microseconds"]
"""


def format_table(rows):
    lines = ["size (B) time (us) algbw (GB/s) busbw (GB/s)"]
    for row in rows:
        lines.append(f"{row.size_bytes} {row.seconds * 1e3:.6g} {row.algbw / 1e9:.6g} {row.busbw / 1e9:.6g}")
    return "\n".join(lines)
