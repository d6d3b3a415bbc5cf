/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - the simulated NCCL job, brought into this process as NCCL comes into a framework: by
 * dlopen */
#ifndef NT_LAUNCH_LOAD_H
#define NT_LAUNCH_LOAD_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*nt_play_job)(int argc, char **argv);

/* nt_fake_main() of nt-fake-job.so; ends the process where it cannot be had. */
static inline nt_play_job nt_load_job(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	nt_play_job play = library ? (nt_play_job)dlsym(library, "nt_fake_main") : NULL;

	if (!play) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return play;
}

/* Of the libpmix that the process has, if it has any. */
static inline int nt_is_pmix_client(void)
{
	void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	int (*initialized)(void) = library ? (int (*)(void))dlsym(library, "PMIx_Initialized")
					   : NULL;

	return initialized ? initialized() : 0;
}

#endif
