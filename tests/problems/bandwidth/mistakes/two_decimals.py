"""The table rounds to two decimals, so that a slow row reads 0.00.

mistake = 22
loses = ["bandwidth.format_table"]
says = ["four significant digits"]
"""


def format_table(rows):
    lines = ["size (B) time (us) algbw (GB/s) busbw (GB/s)"]
    for row in rows:
        lines.append(f"{row.size_bytes} {row.seconds * 1e6:.2f} {row.algbw / 1e9:.2f} {row.busbw / 1e9:.2f}")
    return "\n".join(lines)
