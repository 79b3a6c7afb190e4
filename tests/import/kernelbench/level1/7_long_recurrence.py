import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden, layers):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(2 * hidden, hidden)

    def forward(self, x):
        wide, _ = self.lstm(x)
        steps, last = self.gru(wide)
        return steps, last


def get_inputs():
    return [torch.randn(4, 600, 24)]


def get_init_inputs():
    return [24, 16, 3]
