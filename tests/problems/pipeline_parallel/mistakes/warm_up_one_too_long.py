"""The warm-up of 1f1b is one micro-batch too long: right values, one micro-batch too many in flight.

mistake = 40
loses = ["pipeline_parallel.Pipeline.in_flight"]
says = ["under 1f1b . micro-batches are in flight"]
"""


def _one_f_one_b(stage, num_stages, num_micro_batches):
    warm_up = min(num_stages - stage, num_micro_batches)
    actions = [("forward", i) for i in range(warm_up)]
    for i in range(num_micro_batches - warm_up):
        actions += [("forward", warm_up + i), ("backward", i)]
    return actions + [("backward", i) for i in range(num_micro_batches - warm_up, num_micro_batches)]
