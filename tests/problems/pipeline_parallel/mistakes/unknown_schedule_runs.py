"""A schedule of any other name is taken for 1f1b.

loses = ["pipeline_parallel.Pipeline.errors"]
says = ["raised no ValueError"]
"""


class Pipeline(Pipeline):
    def __init__(self, stage, loss_fn, num_micro_batches, schedule="gpipe", example_input=None, group=None):
        schedule = "gpipe" if schedule == "gpipe" else "1f1b"
        super().__init__(stage, loss_fn, num_micro_batches, schedule, example_input, group)
