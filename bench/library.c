/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/library.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct nt_nccl nt_nccl;
struct nt_cuda nt_cuda;

struct symbol {
	const char *name;
	void **at;
	bool needed;
};

#define NCCL_NEEDED(result, name, parameters) { "nccl" #name, (void **)&nt_nccl.name, true },
#define NCCL_OPTIONAL(result, name, parameters) { "nccl" #name, (void **)&nt_nccl.name, false },
#define CUDA_NEEDED(result, name, parameters) { "cuda" #name, (void **)&nt_cuda.name, true },
#define CUDA_OPTIONAL(result, name, parameters) { "cuda" #name, (void **)&nt_cuda.name, false },

static const struct symbol nccl_symbols[] = { NT_NCCL_NEEDED(NCCL_NEEDED)
						      NT_NCCL_OPTIONAL(NCCL_OPTIONAL) };
static const struct symbol cuda_symbols[] = { NT_CUDA_NEEDED(CUDA_NEEDED)
						      NT_CUDA_OPTIONAL(CUDA_OPTIONAL) };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* NULL: *err says why. */
static void *load(const char *path, int flags, const struct symbol *symbol, size_t count,
		  struct nt_error *err)
{
	void *library = dlopen(path, RTLD_NOW | flags);

	if (!library) {
		nt_error_set(err, "%s", dlerror());
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		*symbol[i].at = dlsym(library, symbol[i].name);
		if (!*symbol[i].at && symbol[i].needed) {
			nt_error_set(err, "%s: it has no %s", path, symbol[i].name);
			dlclose(library);
			return NULL;
		}
	}
	return library;
}

static int load_nccl(const struct nt_found *found, struct nt_library *nccl, struct nt_error *err)
{
	Dl_info info = { .dli_fname = NULL };

	/* Plugins with old interfaces look up NCCL's functions in the process. */
	if (!load(found->path, RTLD_GLOBAL, nccl_symbols, COUNT(nccl_symbols), err))
		return -1;
	if (nt_nccl.GetVersion(&nccl->version) != NT_NCCL_OK)
		return nt_error_set(err, "%s: ncclGetVersion failed", found->path);
	dladdr((void *)(uintptr_t)nt_nccl.GetVersion, &info);
	snprintf(nccl->path, sizeof(nccl->path), "%s",
		 info.dli_fname ? info.dli_fname : found->path);
	return 0;
}

int nt_library_open(const struct nt_search *search, struct nt_found *found, struct nt_library *nccl,
		    struct nt_error *err)
{
	struct nt_error why;

	for (enum nt_search_from from = NT_SEARCH_NAMED;; from = found->from + 1) {
		if (nt_search_next(search, from, found, err) < 0)
			return -1;
		if (found->from == NT_SEARCH_END)
			return nt_error_set(err,
					    "cannot load NCCL: %.160s (give the path of "
					    "libnccl.so.2 with --nccl)",
					    why.text);
		if (load_nccl(found, nccl, &why) == 0)
			return 0;
		if (found->from == NT_SEARCH_NAMED)
			return nt_error_set(err, "--nccl: %s", why.text);
		if (found->from != NT_SEARCH_SYSTEM)
			fprintf(stderr, "nccl-tune-bench: NCCL %s is skipped: %s\n", found->why,
				why.text);
	}
}

static const char *const cuda_names[] = { "libcudart.so.13", "libcudart.so.12",
					  "libcudart.so.11.0" };

/* False: try the next one. */
static bool load_cuda(const char *path, struct nt_error *err)
{
	nt_cuda_error rc;
	int count;

	if (!load(path, RTLD_LOCAL, cuda_symbols, COUNT(cuda_symbols), err))
		return false;
	rc = nt_cuda.GetDeviceCount(&count);
	if (rc == NT_CUDA_OLD_DRIVER)
		nt_error_set(err, "%s: %s", path, nt_cuda.GetErrorString(rc));
	return rc != NT_CUDA_OLD_DRIVER;
}

/* The runtime beside NCCL in a Python environment, or in the toolkit's default directory. */
static bool load_cuda_at(const char *dir, size_t bytes, struct nt_error *err)
{
	static const char *const directories[] = { "/", "/../../cu13/lib/",
						   "/../../cuda_runtime/lib/" };
	char path[NT_LIBRARY_MAX + 64];
	FILE *file;

	for (size_t i = 0; i < COUNT(directories) * COUNT(cuda_names); i++) {
		snprintf(path, sizeof(path), "%.*s%s%s", (int)bytes, dir,
			 directories[i / COUNT(cuda_names)], cuda_names[i % COUNT(cuda_names)]);
		file = fopen(path, "re");
		if (!file)
			continue;
		fclose(file);
		if (load_cuda(path, err))
			return true;
	}
	return false;
}

int nt_library_open_cuda(const char *nccl_path, struct nt_error *err)
{
	static const char toolkit[] = "/usr/local/cuda/lib64";
	const char *slash = strrchr(nccl_path, '/');
	struct nt_error why = { "" };

	if (slash && load_cuda_at(nccl_path, (size_t)(slash - nccl_path), &why))
		return 0;
	for (size_t i = 0; i < COUNT(cuda_names); i++)
		if (load_cuda(cuda_names[i], &why))
			return 0;
	if (load_cuda_at(toolkit, sizeof(toolkit) - 1, &why))
		return 0;
	return nt_error_set(err, "no CUDA runtime: %s", why.text);
}

int nt_library_check(const struct nt_bench_options *o, struct nt_error *err)
{
	const bool graphs = o->mode == NT_BENCH_GRAPH || o->mode == NT_BENCH_MIXED;

	if (o->split != NT_SPLIT_NONE && !nt_nccl.CommSplit)
		return nt_error_set(err, "--split: this NCCL has no ncclCommSplit");
	for (unsigned i = 0; i < o->colls; i++)
		if (!nt_kind_tunable(o->coll[i]) && !(nt_nccl.Send && nt_nccl.Recv))
			return nt_error_set(err, "--coll: this NCCL has no ncclSend and ncclRecv");
	if (o->simulate_every && !nt_nccl.GroupSimulateEnd)
		return nt_error_set(err, "--simulate-on: this NCCL has no ncclGroupSimulateEnd");
	if (graphs && !(nt_cuda.StreamBeginCapture && nt_cuda.StreamEndCapture &&
			nt_cuda.GraphInstantiateWithFlags && nt_cuda.GraphDestroy &&
			nt_cuda.GraphLaunch && nt_cuda.GraphExecDestroy))
		return nt_error_set(err, "--mode: this CUDA runtime cannot capture graphs");
	return 0;
}
