"""Where one of the two split sizes is not given, the other one is taken for both.

loses = ["collectives.all_to_all.splits"]
says = ["expected|split|elements|size"]
"""

_all_to_all_as_it_should_be = all_to_all


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    sizes = output_split_sizes or input_split_sizes
    _all_to_all_as_it_should_be(output, input, output_split_sizes or sizes, input_split_sizes or sizes, group)
