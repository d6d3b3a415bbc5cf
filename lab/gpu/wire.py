#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""wire.py receive|send ADDRESS - how fast is the way to ADDRESS

The receiver waits for one connection and prints what came in within the last two thirds of it, in Gbit/s.
"""
import socket
import sys
import time

PORT = 17999
SECONDS = 1.5
CHUNK = 1 << 20


def receive(address):
    with socket.create_server((address, PORT)) as server:
        server.settimeout(8)
        connection, _ = server.accept()
    with connection:
        connection.settimeout(8)
        buffer = bytearray(CHUNK)
        start, count, since = time.monotonic(), 0, None
        while True:
            n = connection.recv_into(buffer)
            now = time.monotonic()
            if n == 0:
                break
            if since is not None:
                count += n
            elif now - start > SECONDS / 3:
                since = now
        print(f"{count * 8 / (now - since) / 1e9:.2f}" if since else "0")


def send(address):
    for _ in range(100):
        try:
            connection = socket.create_connection((address, PORT), timeout=8)
            break
        except OSError:
            time.sleep(0.05)
    else:
        return 1
    with connection:
        data = bytes(CHUNK)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            connection.sendall(data)
    return 0


if __name__ == "__main__":
    sys.exit({"receive": receive, "send": send}[sys.argv[1]](sys.argv[2]))
