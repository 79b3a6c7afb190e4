# task: layer
# verdict: valid
# because: A CUDA graph for each size, captured in the first call, whose input is copied into its own memory in every call.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.graphs = {}

    def work(self, x):
        return torch.relu(self.linear(x))

    def forward(self, x):
        if x.shape not in self.graphs:
            inside = x.clone()
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.work(inside)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = self.work(inside)
            self.graphs[x.shape] = (graph, inside, out)
        graph, inside, out = self.graphs[x.shape]
        inside.copy_(x)
        graph.replay()
        return out
