#!/usr/bin/env python3
"""Fails if a program has functions that exceptions cannot leave.

    scripts/check_unwinding.py PROGRAM...

The table .eh_frame_hdr leads to the entry of .eh_frame that says how to unwind a function. lld 14 drops entries of functions that begin at
the address of an empty function; an exception that passes such a function ends the program, whoever would catch it.
"""
import re
import struct
import subprocess
import sys


def read_elf(option, path):
    return subprocess.run(["readelf", *option, path], capture_output=True, text=True, check=True).stdout


def sections(path):
    """Address and offset in the file of each section, by name."""
    rows = re.findall(r"\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ", read_elf(["-SW"], path))
    return {name: (int(address, 16), int(offset, 16)) for name, address, offset in rows}


def listed_entries(path):
    """Offsets in .eh_frame of the entries that the table leads to."""
    found = sections(path)
    address, offset = found[".eh_frame_hdr"]
    with open(path, "rb") as file:
        data = file.read()
    if data[offset : offset + 4] != bytes.fromhex("011b033b"):  # version; how the pointer, the count and the table are encoded
        sys.exit(f"{path}: .eh_frame_hdr has a form that this script does not know")
    (count,) = struct.unpack_from("<I", data, offset + 8)
    pairs = struct.iter_unpack("<ii", data[offset + 12 : offset + 12 + 8 * count])
    return {address + entry - found[".eh_frame"][0] for _, entry in pairs}


def lost_functions(path):
    """Addresses of the functions that are not empty and not in the table."""
    listed = listed_entries(path)
    frames = read_elf(["--debug-dump=frames"], path)
    entries = re.findall(r"^([0-9a-f]+) \S+ \S+ FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", frames, re.MULTILINE)
    if not entries:
        sys.exit(f"{path}: readelf prints no entries of .eh_frame")
    return [begin for entry, begin, end in entries if begin != end and int(entry, 16) not in listed]


failed = False
for program in sys.argv[1:]:
    for function in lost_functions(program):
        print(f"{program}: an exception that leaves the function at 0x{function} ends the program", file=sys.stderr)
        failed = True
sys.exit(failed)
