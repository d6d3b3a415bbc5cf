#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
"""wire.py receive|send ADDRESS [CONNECTIONS] - how fast is the way to ADDRESS

The receiver waits for so many connections (1) and prints what came in within the last two thirds of them, in Gbit/s.
"""
import socket
import sys
import threading
import time

PORT = 17999
SECONDS = 1.5
CHUNK = 1 << 20


def take(connection, ends):
    """Bytes of the last two thirds, and their seconds."""
    connection.settimeout(8)
    buffer = bytearray(CHUNK)
    start, count, since = time.monotonic(), 0, None
    with connection:
        while n := connection.recv_into(buffer):
            now = time.monotonic()
            if since is not None:
                count += n
            elif now - start > SECONDS / 3:
                since = now
    ends.append(count * 8 / (now - since) / 1e9 if since and now > since else 0)


def receive(address, connections):
    rates = []
    with socket.create_server((address, PORT)) as server:
        server.settimeout(8)
        takers = [threading.Thread(target=take, args=(server.accept()[0], rates)) for _ in range(connections)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()
    print(f"{sum(rates):.2f}")


def give(connection):
    data = bytes(CHUNK)
    end = time.monotonic() + SECONDS
    with connection:
        while time.monotonic() < end:
            connection.sendall(data)


def connect(address):
    for _ in range(100):
        try:
            return socket.create_connection((address, PORT), timeout=8)
        except OSError:
            time.sleep(0.05)
    sys.exit(1)


def send(address, connections):
    givers = [threading.Thread(target=give, args=(connect(address),)) for _ in range(connections)]
    for giver in givers:
        giver.start()
    for giver in givers:
        giver.join()


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
