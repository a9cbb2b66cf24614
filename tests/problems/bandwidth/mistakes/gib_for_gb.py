"""The table's GB are 2**30 bytes.

mistake = 22
loses = ["bandwidth.format_table"]
says = ["1 GB is 1e9"]
"""


def format_table(rows):
    lines = ["size (B) time (us) algbw (GB/s) busbw (GB/s)"]
    for row in rows:
        gib = 2**30
        lines.append(f"{row.size_bytes} {row.seconds * 1e6:.6g} {row.algbw / gib:.6g} {row.busbw / gib:.6g}")
    return "\n".join(lines)
