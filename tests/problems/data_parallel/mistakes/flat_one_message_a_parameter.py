"""Flat in name only: one message a parameter.

mistake = 30
loses = ["data_parallel.average_gradients_flat.one_message"]
says = ['messages?']
"""


def average_gradients_flat(module, group=None):
    average_gradients(module, group)
