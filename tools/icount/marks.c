/* A plugin for qemu-arm (user mode) that counts executed guest instructions and writes the running
   count to a file at every unlink(2) or unlinkat(2) of the guest, and at the end: one number a line.
   A guest marks a point with a call that fails at once: os.remove('@') in MicroPython, unlink("@") in C.

   Debian packages no header for plugins; these are the few declarations used, as the documentation of
   "QEMU TCG Plugins" gives them. PLUGIN_API is the interface's number: 1 up to QEMU 8, 2 from 9 on. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef struct translated_block translated_block;
typedef struct qemu_info qemu_info;

VISIBLE int qemu_plugin_version = PLUGIN_API;

size_t qemu_plugin_tb_n_insns(const translated_block *block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, translated_block *));
void qemu_plugin_register_vcpu_tb_exec_cb(translated_block *, void (*)(unsigned cpu, void *), int flags, void *);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, void (*)(plugin_id, unsigned cpu, int64_t number, uint64_t,
                                          uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

enum { NO_REGISTERS = 0, ARM_UNLINK = 10, ARM_UNLINKAT = 328 };

static uint64_t executed;
static FILE *out;

static void on_execute(unsigned cpu, void *instructions)
{
    executed += (uintptr_t)instructions;
}

/* A block is entered at its start and, in user mode without faults, left at its end: adding its length once
   counts the same as counting each instruction, at a fraction of the cost. */
static void on_translate(plugin_id id, translated_block *block)
{
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_execute, NO_REGISTERS,
                                         (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void on_system_call(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                           uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    if (number == ARM_UNLINK || number == ARM_UNLINKAT)
        fprintf(out, "%" PRIu64 "\n", executed);
}

static void on_exit_of_guest(plugin_id id, void *unused)
{
    fprintf(out, "%" PRIu64 "\n", executed);
    fclose(out);
}

VISIBLE int qemu_plugin_install(plugin_id id, const qemu_info *info, int count, char **arguments)
{
    for (int i = 0; i < count; i++)
        if (!strncmp(arguments[i], "out=", 4))
            out = fopen(arguments[i] + 4, "w");
    if (!out) {
        fprintf(stderr, "marks: say out=FILE, a file that can be written\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
    qemu_plugin_register_atexit_cb(id, on_exit_of_guest, NULL);
    return 0;
}
