"""all_to_all cuts the input by output_split_sizes, and the output by input_split_sizes.

loses = ["collectives.all_to_all"]
says = ["expected|split|elements|size"]
"""

_all_to_all_as_it_should_be = all_to_all


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    _all_to_all_as_it_should_be(output, input, input_split_sizes, output_split_sizes, group)
