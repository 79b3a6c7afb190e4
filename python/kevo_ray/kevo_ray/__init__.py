"""Evaluation servers of kevo on the machines of a Ray cluster.

Each replica is a Ray actor around a `kevo serve` of its own machine. Ray Serve places the replicas, restarts them, changes
their number, and gives them one address, which `kevo serve --forward` uses. docs/ray.md describes the whole.
"""

from .settings import Settings

__all__ = ["Settings", "app"]


def app(args: Settings):
    """The Ray Serve application, for `import_path: kevo_ray:app` in a Serve config; `args` are its `args`."""
    from .replica import application  # only here: a program that reads settings needs no Ray

    return application(args)
