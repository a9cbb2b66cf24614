"""Buckets regardless of dtype, sent in the dtype of their first parameter: float64 gradients lose half of their digits.

loses = ["data_parallel.DistributedDataParallel"]
says = ["smaller dtype|about 7 digits|own dtype"]
"""


def _fill_buckets(parameters, capacity_bytes):
    buckets, room = [], 0
    for parameter in parameters:
        if not buckets or parameter.nbytes > room:
            buckets.append([])
            room = capacity_bytes
        buckets[-1].append(parameter)
        room -= parameter.nbytes
    return [_Bucket(bucket) for bucket in buckets]


def _flatten_gradients(parameters):
    return torch.cat([_gradient(parameter).reshape(-1).to(parameters[0].dtype) for parameter in parameters])
