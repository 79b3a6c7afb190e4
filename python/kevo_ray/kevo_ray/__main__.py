"""python -m kevo_ray: keeps replicas on a Ray cluster until it is stopped."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from .settings import Settings


# Ray Serve would give all submissions to replicas on the machine of its proxy, as long as one of them takes another one ahead, while
# those on other machines have nothing to do.
ANY_NODE = {"RAY_SERVE_PROXY_PREFER_LOCAL_NODE_ROUTING": "0"}


def settings_options(parser):
    """An option for each setting."""
    parser.add_argument("tasks", nargs="*", help=Settings.model_fields["tasks"].description)
    for name, field in Settings.model_fields.items():
        if name == "tasks":
            continue
        flag = "--" + name.replace("_", "-").removesuffix("-s")
        if field.annotation is bool:
            parser.add_argument(flag, dest=name, action="store_true", help=field.description)
        elif name == "set":
            parser.add_argument(flag, dest=name, action="append", default=[], help=field.description)
        else:
            parser.add_argument(flag, dest=name, default=argparse.SUPPRESS, help=field.description)


def parse(words):
    parser = argparse.ArgumentParser("kevo-ray", description="Keep evaluation servers of kevo on the machines of a Ray cluster.")
    settings_options(parser)
    parser.add_argument("--address", default="auto", help="address of the Ray cluster (default: the one of this machine)")
    parser.add_argument("--host", default="127.0.0.1", help="address at which replicas are reached (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port at which replicas are reached (default 8000)")
    given = vars(parser.parse_args(words))
    where = {key: given.pop(key) for key in ("address", "host", "port")}
    return Settings(**given), where


def main(words=None) -> int:
    settings, where = parse(words)
    if where["host"] not in ("127.0.0.1", "::1", "localhost") and not settings.token_file:
        sys.exit("kevo-ray: other machines reach this address, and everybody could use the replicas; give --token-file")

    import ray
    from ray import serve

    from .replica import application

    stopped = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stopped.set())
    ray.init(address=where["address"], log_to_driver=False, runtime_env={"env_vars": ANY_NODE})
    # One address, on the machine of the head: whoever forwards to it is there, too, or has a load balancer of their own.
    serve.start(proxy_location="HeadOnly", http_options={"host": where["host"], "port": where["port"]})
    serve.run(application(settings), name="kevo", route_prefix="/")
    print(f"replicas on http://{where['host']}:{where['port']}", flush=True)
    while not stopped.wait(2):
        serve.status()  # raises if the cluster has ended
    serve.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
