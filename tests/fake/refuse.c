/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.c - nt-refuse CALL[,CALL...] COMMAND...: run a command whose system calls of these names
 * fail with EPERM, as in a container with a strict profile; status 77: this kernel has no such
 * filters */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 8

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "memfd_create", SYS_memfd_create }, { "process_vm_readv", SYS_process_vm_readv },
	{ "fallocate", SYS_fallocate },	      { "statfs", SYS_statfs },
	{ "prlimit64", SYS_prlimit64 },	      { "sched_setaffinity", SYS_sched_setaffinity },
};

static int number_of(const char *name, size_t length, unsigned *number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strlen(calls[i].name) == length && memcmp(calls[i].name, name, length) == 0) {
			*number = calls[i].number;
			return 0;
		}
	}
	return -1;
}

static int refuse(const char *list)
{
	struct sock_filter code[2 * MOST + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = 1, .filter = code };
	unsigned number;

	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (program.len > 2 * MOST || number_of(list, length, &number) < 0)
			return -1;
		code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								   number, 0, 1);
		code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								   SECCOMP_RET_ERRNO | EPERM);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(77);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3 || refuse(argv[1]) < 0) {
		fprintf(stderr, "usage: nt-refuse CALL[,CALL...] COMMAND...\n");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
