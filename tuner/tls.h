/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - may NCCL encrypt what it sends over TCP sockets?
 *
 * From 2.32 on a program can ask for that by ncclSetEncryption(), and nobody else is told. NCCL can
 * do it if it was built for it: its constants then name OpenSSL's library, which it loads when the
 * first connection is encrypted. So a library that cannot is known for certain; one that can, in a
 * process that has loaded OpenSSL for something else, looks encrypted.
 *
 * Threads:  any. Reads a file and asks the loader for its list.
 * Memory:   maps the file while it looks.
 * Errors:   a file that cannot be read, or is no ELF file of 64 bits, cannot encrypt.
 * Host:     cryptLoadOpenSslSymbols(), src/crypt.cc of 2.32.3; TLS_BACKEND in its makefiles.
 */
#ifndef NT_TLS_H
#define NT_TLS_H

#include <stdbool.h>
#include <stddef.h>

/* library: NCCL's file; "": part of the program. */
bool nt_tls_possible(const char *library);

/* Does the section .rodata of this ELF file contain the text? Here for tests. */
bool nt_tls_constants_have(const void *file, size_t bytes, const char *text);

#endif
