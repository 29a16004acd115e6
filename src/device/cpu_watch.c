/* SPDX-License-Identifier: MIT
 *
 * Records which pages kernels touch: pages are protected, and the first access to each faults and unprotects it. This
 * slows launches down by a microsecond per page.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"

static struct {
    struct device_page *pages;
    size_t count;
    struct sigaction before;
} watched;

static bool protect(const struct device_page *page, int protection)
{
    return !mprotect(page->at, DEVICE_PAGE_BYTES, protection);
}

/* Runs on the stack that touched the page. Any other fault is repeated under the previous handler. */
static void on_fault(int number, siginfo_t *info, UNUSED void *context)
{
    FOR_EACH(struct device_page, page, watched.pages, watched.count)
        if ((uintptr_t)info->si_addr / DEVICE_PAGE_BYTES == (uintptr_t)page->at / DEVICE_PAGE_BYTES) {
            page->touched = true;
            if (protect(page, PROT_READ | PROT_WRITE))
                return;
        }
    sigaction(number, &watched.before, NULL);
}

void cpu_watch(UNUSED struct device *device, struct device_page *pages, size_t count)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (watched.count)
        sigaction(SIGSEGV, &watched.before, NULL);
    FOR_EACH(const struct device_page, page, watched.pages, watched.count)
        protect(page, PROT_READ | PROT_WRITE);
    watched.pages = pages;
    watched.count = count;
    if (count)
        sigaction(SIGSEGV, &action, &watched.before);
    /* A page that cannot be watched counts as touched. */
    const bool seen = sysconf(_SC_PAGESIZE) == DEVICE_PAGE_BYTES;
    FOR_EACH(struct device_page, page, pages, count)
        page->touched = !seen || !protect(page, page->writes ? PROT_READ : PROT_NONE);
}
