"""The replica as a deployment of Ray Serve."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os

from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from .server import Server
from .settings import Settings

AHEAD = 1  # submissions that wait in a replica, so that it need not wait for the next one


def refusal(status: int, code: str, message: str) -> Response:
    """An answer in the form of kevo serve's."""
    body = json.dumps({"error": {"code": code, "message": message, "hint": None}})
    return Response(body, status_code=status, media_type="application/json")


def words_of(settings: Settings) -> list:
    """The command line of a replica's server."""
    words = [settings.kevo, "serve", *settings.tasks, "--at-once", str(settings.at_once)]
    if settings.allow_tasks:
        words.append("--allow-tasks")
    for one in settings.set:
        words += ["--set", one]
    return words


class Replica:
    """A `kevo serve` on the machine where Ray has put this actor, with the GPU that Ray gave it (CUDA_VISIBLE_DEVICES)."""

    def __init__(self, settings: Settings):
        token = None
        if settings.token_file:
            with open(settings.token_file) as file:
                token = file.read().strip()
        # An actor without its server would be the one that is least busy, and get every submission. So it ends with it, and
        # Ray Serve starts another one.
        self._server = Server(words_of(settings), token, on_end=lambda: os._exit(1))
        self._threads = concurrent.futures.ThreadPoolExecutor(settings.at_once + AHEAD)

    async def __call__(self, request: Request) -> Response:
        if request.url.path != "/v1/evaluations" or request.method != "POST":
            return refusal(404, "not_found", "replicas take POST /v1/evaluations only; ask the service that forwards to them")
        try:
            wait_s = float(request.query_params.get("wait") or 0)
        except ValueError:
            return refusal(400, "usage", "wait must be a number of seconds")
        body = await request.body()
        authorization = request.headers.get("authorization", "")
        loop = asyncio.get_running_loop()
        try:
            status, text = await loop.run_in_executor(self._threads, self._server.evaluate, body, authorization, wait_s)
        except OSError as gone:
            return refusal(502, "environment", f"the server of this replica does not answer: {gone}")
        return Response(text, status_code=status, media_type="application/json")

    def check_health(self):
        """Called by Ray Serve, which replaces the replica if this raises."""
        self._server.check()

    def __del__(self):
        if hasattr(self, "_server"):
            self._server.close()


def application(settings: Settings):
    """The application: one deployment, which is the ingress."""
    options = {
        "name": "kevo",
        "ray_actor_options": {"num_gpus": settings.gpus, "num_cpus": settings.cpus},
        "max_ongoing_requests": settings.at_once + AHEAD,
        "max_replicas_per_node": settings.per_node,
        "health_check_period_s": 2,
        "health_check_timeout_s": 30,
        "graceful_shutdown_timeout_s": settings.drain_s,
    }
    if settings.max_replicas is None:
        options["num_replicas"] = settings.replicas
    else:
        options["autoscaling_config"] = {
            "min_replicas": settings.replicas,
            "max_replicas": settings.max_replicas,
            "target_ongoing_requests": settings.at_once,
        }
    return serve.deployment(Replica, **{k: v for k, v in options.items() if v is not None}).bind(settings)
