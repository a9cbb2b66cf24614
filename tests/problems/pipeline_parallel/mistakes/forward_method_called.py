"""The module's forward is called where the module should be, so its hooks are passed by.

mistake = 33
loses = ["pipeline_parallel.Pipeline"]
says = ["called its stage 0 times", "call stage.x."]
"""


class Pipeline(Pipeline):
    def __init__(self, stage, *args, **kwargs):
        super().__init__(stage, *args, **kwargs)
        self.stage = stage.forward
