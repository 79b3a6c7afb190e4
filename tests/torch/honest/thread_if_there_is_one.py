# task: layer
# verdict: valid
# because: Tries to start a thread, and does without.
import torch
import torch.nn as nn
import threading


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        try:
            worker = threading.Thread(target=lambda: None)
            worker.start()
            worker.join()
        except RuntimeError:
            pass
        return torch.relu(self.linear(x))
