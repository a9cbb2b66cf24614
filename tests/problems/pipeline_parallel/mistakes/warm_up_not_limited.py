"""The warm-up of 1f1b is longer than there are micro-batches.

mistake = 40
loses = ["pipeline_parallel.Pipeline.one_f_one_b", "pipeline_parallel.Pipeline"]
says = ["raised IndexError on rank 0", "schedule=.1f1b."]
"""


def _one_f_one_b(stage, num_stages, num_micro_batches):
    warm_up = num_stages - stage - 1
    actions = [("forward", i) for i in range(warm_up)]
    for i in range(num_micro_batches - warm_up):
        actions += [("forward", warm_up + i), ("backward", i)]
    return actions + [("backward", i) for i in range(max(num_micro_batches - warm_up, 0), num_micro_batches)]
