"""What a replica is."""

from __future__ import annotations

from typing import List, Optional

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """Settings of the application `kevo_ray:app`: names are those of the options of `python -m kevo_ray`."""

    model_config = ConfigDict(extra="forbid")

    tasks: List[str] = Field([], description="task files and folders of tasks, which exist on every machine")
    allow_tasks: bool = Field(False, description="also take tasks that come with requests")
    set: List[str] = Field([], description="settings of the fitness function, such as fitness.backend=cuda")
    kevo: str = Field("kevo", description="the program kevo on each machine")
    token_file: Optional[str] = Field(None, description="file with the token that requests must bring, on each machine")
    gpus: float = Field(0, ge=0, description="number of GPUs that Ray reserves for a replica")
    cpus: float = Field(1, ge=0, description="number of processors that Ray reserves for a replica")
    replicas: int = Field(1, ge=0, description="number of replicas; with max_replicas, the smallest number")
    max_replicas: Optional[int] = Field(None, ge=1, description="largest number of replicas; their number then follows the load")
    per_node: Optional[int] = Field(None, ge=1, description="largest number of replicas on a machine")
    at_once: int = Field(1, ge=1, description="number of evaluations that run at the same time in a replica")
    drain_s: float = Field(60, ge=0, description="seconds for which a replica that is to be removed may finish its evaluation")
