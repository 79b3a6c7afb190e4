#!/usr/bin/env python3
"""Writes a task whose seeds are programs with settings drawn at random, so that two runs evaluate the same programs.

  draw_settings.py TASK.yaml TUNABLE N FOLDER

TUNABLE is a source with tunables (docs/sources.md: lists only, and `require` with C's operators). FOLDER gets the N programs
and FOLDER/task.yaml: a copy of TASK.yaml with these programs as its seeds. The same arguments give the same programs, and
fewer programs are the first ones of more. A run that begins with no draws of its own evaluates them in their order:

  kevo run CONFIG.yaml --set task=FOLDER/task.yaml --set 'stop={evaluations: N}'
"""
import os
import random
import re
import sys


def tunables(text):
    """Names, with the lines, their beginnings and the allowed values."""
    found = {}
    for number, line in enumerate(text):
        match = re.match(r"(#define (\w+) |(?:constexpr \w+ )?(\w+) = )([^\s;]+)(;?\s*(?:#|//) kevo: \{([^}]*)\})", line)
        if match:
            begin, name, plain, _, end, values = match.groups()
            found[name or plain] = (number, begin, end, [value.strip() for value in values.split(",")])
    return found


def conditions(text):
    spelled = [line.split("require", 1)[1] for line in text if re.match(r"\s*(#|//) kevo: require", line)]
    return [one.replace("&&", " and ").replace("||", " or ").replace("/", "//").strip() for one in spelled]


def draw(source, count):
    """As many different settings that meet the source's conditions, as texts of programs."""
    text = source.split("\n")
    places, required, generator = tunables(text), conditions(text), random.Random(1)
    programs = []
    for _ in range(100000):
        setting = {name: generator.choice(place[3]) for name, place in places.items()}
        numbers = {name: int(value) for name, value in setting.items() if re.fullmatch(r"-?\d+", value)}
        if not all(eval(one, {}, numbers) for one in required):
            continue
        lines = list(text)
        for name, (number, begin, end, _) in places.items():
            lines[number] = begin + setting[name] + end
        program = "\n".join(lines)
        if program not in programs:
            programs.append(program)
        if len(programs) == count:
            return programs
    sys.exit(f"only {len(programs)} different settings were found")


def with_absolute_paths(task, folder):
    """The task's text with the files that it names by absolute paths, and without seeds and compiled baselines."""
    lines = []
    for line in task.split("\n"):
        if line.startswith("seeds:"):
            continue
        if "compile: true" in line:
            line = re.sub(r", \{name: \w+, compile: true[^}]*\}", "", line)
        lines.append(re.sub(r"(file: )([\w./-]+)", lambda m: m[1] + os.path.abspath(os.path.join(folder, m[2])), line))
    return "\n".join(lines)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    task, source, count, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    os.makedirs(folder, exist_ok=True)
    with open(source) as file:
        programs = draw(file.read(), count)
    names = [f"{i:03}{os.path.splitext(source)[1]}" for i in range(count)]
    for name, program in zip(names, programs):
        with open(os.path.join(folder, name), "w") as file:
            file.write(program)
    with open(task) as file:
        text = with_absolute_paths(file.read(), os.path.dirname(task))
    with open(os.path.join(folder, "task.yaml"), "w") as file:
        file.write(text.rstrip("\n") + f"\nseeds: [{', '.join(names)}]\n")


main()
