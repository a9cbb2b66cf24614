"""all_to_all makes equal blocks whatever the split sizes say.

loses = ["collectives.all_to_all"]
says = ["expected|split|elements|size"]
"""

_all_to_all_as_it_should_be = all_to_all


def all_to_all(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    _all_to_all_as_it_should_be(output, input, group=group)
