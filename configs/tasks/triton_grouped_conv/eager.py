# Grouped convolution of images with the channels last: views in PyTorch's order of dimensions, without copies.
import torch


def run(x, w):
    images, rows, columns, groups, width = x.shape
    given = x.reshape(images, rows, columns, groups * width).permute(0, 3, 1, 2)
    filters = w.reshape(groups * width, 3, 3, width).permute(0, 3, 1, 2)
    made = torch.nn.functional.conv2d(given, filters, padding=1, groups=groups)
    return made.permute(0, 2, 3, 1).reshape(images, rows, columns, groups, width)
