/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../src/device/telemetry.h"
#include "rooftile/file.h"
#include "rooftile/text.h"

#define CARD "bus/pci/devices/0000:05:00.0/"
#define SENSORS CARD "hwmon/hwmon7/"
#define NODES "class/kfd/kfd/topology/nodes/"
#define PROCESSES "class/kfd/kfd/proc/"

static char root[64];

/* A file of the tree, with its folders. */
static void put(const char *name, const char *content)
{
    struct arena arena = {0};
    struct err err = {0};
    char *path = path_join(&arena, root, name);
    if (file_make_dirs(path_dir(&arena, path), &err))
        fail_msg("%s", err.text);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
    arena_release(&arena);
}

static int make_tree(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/rooftile-sysfs-XXXXXX");
    assert_non_null(mkdtemp(root));
    setenv("ROOFTILE_SYSFS", root, 1);
    return 0;
}

static int remove_tree(void **state)
{
    char command[128];
    (void)state;
    unsetenv("ROOFTILE_SYSFS");
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

static void put_card(void)
{
    static const char *const files[][2] = {
        {CARD "vendor", "0x1002\n"},
        {CARD "device", "0x74a1\n"},
        {CARD "unique_id", "f1c2d3e4a5b60718\n"},
        {CARD "serial_number", "PCB012345-0042\n"},
        {CARD "current_compute_partition", "SPX\n"},
        {CARD "current_memory_partition", "NPS1\n"},
        {CARD "vbios_version", "113-M3000100-102\n"},
        {CARD "power_dpm_force_performance_level", "auto\n"},
        {CARD "fw_version/smc_fw_version", "0x00556c00\n"},
        {CARD "fw_version/mec_fw_version", "0x000000b5\n"},
        {SENSORS "power1_cap", "750000000\n"},
        {CARD "pp_dpm_sclk", "0: 132Mhz\n1: 1900Mhz *\n2: 2100Mhz\n"},
        {CARD "pp_dpm_mclk", "0: 900Mhz\n1: 1300Mhz *\n"},
        {CARD "mem_info_vram_used", "3000000000\n"},
        {CARD "mem_info_vram_total", "206141652992\n"},
        {SENSORS "name", "amdgpu\n"},
        {SENSORS "power1_average", "151250000\n"},
        {SENSORS "temp1_label", "edge\n"},
        {SENSORS "temp1_input", "41000\n"},
        {SENSORS "temp2_label", "junction\n"},
        {SENSORS "temp2_input", "52500\n"},
        {"bus/pci/devices/0000:85:00.0/device", "0x74a0\n"},
        {NODES "0/gpu_id", "0\n"},
        {NODES "0/properties", "cpu_cores_count 96\n"},
        {NODES "1/gpu_id", "28851\n"},
        {NODES "1/properties", "simd_count 1216\nlocation_id 1280\ndomain 0\nnum_xcc 8\n"},
        {NODES "2/gpu_id", "51499\n"},
        {NODES "2/properties", "location_id 34048\ndomain 0\n"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i)
        put(files[i][0], files[i][1]);
}

static struct device_sense sense_of(const char *bdf)
{
    struct device_sense sense = device_sense_unknown;
    struct telemetry telemetry;
    telemetry_open(&telemetry, bdf);
    telemetry_sense(&sense, &telemetry);
    return sense;
}

static struct device_info info_of(const char *bdf)
{
    struct device_info info = {0};
    struct telemetry telemetry;
    telemetry_open(&telemetry, bdf);
    telemetry_describe(&info, &telemetry, "1002");
    return info;
}

static void describes_a_card(void **state)
{
    (void)state;
    put_card();
    const struct device_info info = info_of("0000:05:00.0");
    assert_string_equal(info.pci_id, "1002:74a1");
    assert_string_equal(info.partition, "SPX/NPS1");
    assert_string_equal(info.uuid, "GPU-f1c2d3e4a5b60718");
    assert_int_equal(strlen(info.serial_hash), 64);
    assert_string_equal(info.vbios, "113-M3000100-102");
    assert_string_equal(info.firmware, "smc 0x00556c00, mec 0x000000b5");
    assert_string_equal(info.perf_level, "auto");
    assert_float_equal(info.power_cap_w, 750, 0);
    const struct device_info bare = info_of("0000:85:00.0");
    assert_string_equal(bare.pci_id, ""); /* no vendor */
    assert_true(!bare.vbios[0] && !bare.firmware[0] && !bare.perf_level[0] && bare.power_cap_w == 0);
    put("bus/pci/devices/0000:85:00.0/vendor", "0x10de\n");
    assert_string_equal(info_of("0000:85:00.0").pci_id, "");
}

#define LINKS NODES "1/io_links/"

/* Links to another card and to the host; what is nonsense says nothing. */
static void describes_links(void **state)
{
    (void)state;
    put_card();
    put(CARD "current_link_speed", "16.0 GT/s PCIe\n");
    put(CARD "max_link_speed", "32.0 GT/s PCIe\n");
    put(CARD "current_link_width", "8\n");
    put(CARD "max_link_width", "16\n");
    put(CARD "local_cpulist", "0-47,96-143\n");
    put(LINKS "0/properties", "type 2\nversion_major 0\nnode_from 1\nnode_to 0\nweight 20\nmax_bandwidth 64000\n");
    put(LINKS "1/properties", "type 11\nnode_from 1\nnode_to 2\nweight 15\nmin_bandwidth 64000\nmax_bandwidth 64000\n");
    put(LINKS "2/properties", "type 9\nnode_from 1\nnode_to 2\n");
    put(NODES "1/p2p_links/0/properties", "type 2\nnode_from 1\nnode_to 99\n");
    struct device_info info = {0};
    struct telemetry telemetry;
    telemetry_open(&telemetry, "0000:05:00.0");
    topology_describe(&info, &telemetry);
    assert_int_equal(info.pcie.generation, 4);
    assert_int_equal(info.pcie.max_generation, 5);
    assert_int_equal(info.pcie.width, 8);
    assert_int_equal(info.pcie.max_width, 16);
    assert_string_equal(info.pcie.cpus, "0-47,96-143");
    assert_int_equal(info.link_count, 1); /* the host is no GPU, type 9 no link of ours, node 99 nothing */
    assert_string_equal(info.links[0].peer, "0000:85:00.0");
    assert_string_equal(info.links[0].type, "xgmi");
    assert_int_equal(info.links[0].weight, 15);
    assert_true(info.links[0].max_bytes_per_s == 64e9);
    put(CARD "current_link_width", "255\n");
    put(CARD "current_link_speed", "Unknown\n");
    info = (struct device_info){0};
    topology_describe(&info, &telemetry);
    assert_int_equal(info.pcie.width, 0);
    assert_int_equal(info.pcie.generation, 0);
    telemetry = (struct telemetry){0};
    info = (struct device_info){0};
    topology_describe(&info, &telemetry);
    assert_int_equal(info.link_count + info.pcie.max_width, 0);
}

/* A folder below /sys/devices, and the link to it that a class or a bus has. */
static void put_device(const char *link, const char *folder)
{
    struct arena arena = {0};
    struct err err = {0};
    const char *from = path_join(&arena, root, link), *to = path_join(&arena, root, folder);
    assert_int_equal(file_make_dirs(path_dir(&arena, from), &err), STATUS_OK);
    assert_int_equal(file_make_dirs(to, &err), STATUS_OK);
    assert_int_equal(symlink(to, from), 0);
    arena_release(&arena);
}

#define HOST_80 "devices/pci0000:80/"
#define SWITCH HOST_80 "0000:80:01.1/0000:81:00.0/"

/* Network cards by how far they are from the GPU; InfiniBand's name wins over Ethernet's of the same card. */
static void finds_network_cards(void **state)
{
    static const struct {
        const char *name, *folder, *distance;
    } cards[] = {{"infiniband/mlx5_0", SWITCH "0000:82:00.0/0000:83:00.0", "PIX"},
                 {"infiniband/mlx5_1", SWITCH "0000:82:02.0/0000:90:00.0/0000:91:00.0/0000:92:00.0", "PXB"},
                 {"infiniband/mlx5_2", HOST_80 "0000:80:03.1/0000:a0:00.0", "PHB"},
                 {"net/eth0", "devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0", "NODE"},
                 {"net/eth1", "devices/pci0000:00/0000:00:01.1/0000:01:00.0", "SYS"}};
    (void)state;
    put_device("bus/pci/devices/0000:85:00.0", SWITCH "0000:82:01.0/0000:85:00.0");
    put(SWITCH "0000:82:01.0/0000:85:00.0/device", "0x74a1\n");
    put(SWITCH "0000:82:01.0/0000:85:00.0/numa_node", "1\n");
    for (size_t k = 0; k < sizeof(cards) / sizeof(cards[0]); k++) {
        char link[64], numa[160];
        snprintf(link, sizeof(link), "class/%s/device", cards[k].name);
        put_device(link, cards[k].folder);
        snprintf(numa, sizeof(numa), "%s/numa_node", cards[k].folder);
        put(numa, strcmp(cards[k].distance, "SYS") ? "1\n" : "0\n");
    }
    put_device("class/net/ib0/device", cards[0].folder);
    put_device("class/net/lo0/device", "devices/virtual/net/lo0");
    put("class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    put("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    put(SWITCH "0000:82:00.0/0000:83:00.0/current_link_width", "8\n");
    put(SWITCH "0000:82:00.0/0000:83:00.0/max_link_width", "16\n");
    put("class/net/eth0/speed", "25000\n");
    put("class/net/eth0/operstate", "up\n");
    put("class/net/eth1/speed", "-1\n");
    put("class/net/eth1/operstate", "down\n");
    struct device_info info = {0};
    struct telemetry telemetry;
    telemetry_open(&telemetry, "0000:85:00.0");
    topology_describe(&info, &telemetry);
    assert_int_equal(info.nic_count, 5);
    for (uint32_t k = 0; k < info.nic_count; k++) {
        assert_string_equal(info.nics[k].name, strchr(cards[k].name, '/') + 1);
        assert_string_equal(info.nics[k].distance, cards[k].distance);
    }
    assert_true(info.nics[0].max_bytes_per_s == 50e9 && info.nics[3].max_bytes_per_s == 3.125e9);
    assert_true(info.nics[1].max_bytes_per_s == 0 && info.nics[4].max_bytes_per_s == 0); /* not known; no link */
    assert_string_equal(info.nics[0].state, "active");
    assert_string_equal(info.nics[4].state, "down");
    assert_true(info.nics[0].width == 8 && info.nics[0].max_width == 16);
}

#define NUMA "devices/system/node/node"

/* The farthest node of the host: none without a second, or of memory without processors, as a GPU's is. */
static void finds_the_far_node(void **state)
{
    struct telemetry telemetry;
    (void)state;
    put_card();
    telemetry_open(&telemetry, "0000:05:00.0");
    struct device_info info = {0};
    topology_describe(&info, &telemetry);
    assert_int_equal(info.pcie.far_node, 0);
    put(CARD "numa_node", "1\n");
    put(NUMA "1/distance", "21 10 32 80\n");
    put(NUMA "0/cpulist", "0-47\n");
    put(NUMA "1/cpulist", "48-95\n");
    put(NUMA "2/cpulist", "96-143\n");
    put(NUMA "3/cpulist", "\n");
    topology_describe(&info, &telemetry);
    assert_int_equal(info.pcie.far_node, 1 + 2);
    put(NUMA "1/distance", "21 10\n");
    topology_describe(&info, &telemetry);
    assert_int_equal(info.pcie.far_node, 1 + 0);
    put(CARD "numa_node", "-1\n");
    topology_describe(&info, &telemetry);
    assert_int_equal(info.pcie.far_node, 0);
}

/* A partition of a card has the card's files; letters may be large. */
static void finds_the_card_of_a_partition(void **state)
{
    (void)state;
    put_card();
    put(CARD "current_compute_partition", "CPX\n");
    assert_string_equal(info_of("0000:05:00.3").partition, "CPX/NPS1");
    put("bus/pci/devices/0000:c5:00.0/vendor", "0x1002\n");
    put("bus/pci/devices/0000:c5:00.0/device", "0x740f\n");
    assert_string_equal(info_of("0000:C5:00.0").pci_id, "1002:740f");
    assert_string_equal(info_of("0000:C5:00.0").partition, "");
}

static void senses_a_card(void **state)
{
    (void)state;
    put_card();
    const struct device_sense sense = sense_of("0000:05:00.0");
    assert_true(sense.core_hz == 1.9e9 && sense.memory_hz == 1.3e9);
    assert_true(fabs(sense.power_w - 151.25) < 1e-9 && fabs(sense.temp_c - 52.5) < 1e-9);
    assert_true(sense.vram_used_bytes == 3e9);
    assert_true(isnan(sense.other_processes) && isnan(sense.violation_power)); /* no list, no table */
}

static void knows_nothing_of_an_absent_card(void **state)
{
    static const char *const addresses[] = {"",
                                            "0",
                                            "0000:06:00.0",
                                            "../../../etc",
                                            "nonsense",
                                            "0000:05:00.00000000000000000000000000000000000000000000000000"};
    (void)state;
    put_card();
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); ++i) {
        const struct device_sense sense = sense_of(addresses[i]);
        assert_true(isnan(sense.core_hz) && isnan(sense.power_w) && isnan(sense.temp_c) &&
                    isnan(sense.vram_used_bytes));
        assert_string_equal(info_of(addresses[i]).pci_id, "");
    }
}

/* Every file once missing, empty, and full of nonsense: the others are read as ever, and nothing ends the program. */
static void tolerates_any_bad_file(void **state)
{
    static const char *const files[] = {"vendor",
                                        "device",
                                        "unique_id",
                                        "current_compute_partition",
                                        "serial_number",
                                        "pp_dpm_sclk",
                                        "mem_info_vram_used",
                                        "current_memory_partition",
                                        "hwmon/hwmon7/temp2_label",
                                        "hwmon/hwmon7/power1_average",
                                        "gpu_metrics"};
    static const char *const contents[] = {"",    "\n",        "nonsense",    "-1",
                                           "nan", "inf Mhz *", "1: *\n*\n:*", "99999999999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i)
        for (size_t k = 0; k < sizeof(contents) / sizeof(contents[0]); ++k) {
            char name[128];
            put_card();
            snprintf(name, sizeof(name), CARD "%s", files[i]);
            put(name, contents[k]);
            const struct device_sense sense = sense_of("0000:05:00.0");
            (void)info_of("0000:05:00.0");
            if (strcmp(files[i], "device") != 0)
                assert_true(sense.memory_hz == 1.3e9);
        }
}

static void takes_the_edge_where_it_is_alone(void **state)
{
    (void)state;
    put("bus/pci/devices/0000:01:00.0/device", "0x744c\n");
    put("bus/pci/devices/0000:01:00.0/hwmon/hwmon0/temp1_label", "edge\n");
    put("bus/pci/devices/0000:01:00.0/hwmon/hwmon0/temp1_input", "33000\n");
    put("bus/pci/devices/0000:01:00.0/hwmon/hwmon0/power1_input", "20000000\n");
    put("bus/pci/devices/0000:01:00.0/pp_dpm_sclk", "S: 19Mhz *\n0: 500Mhz\n");
    const struct device_sense sense = sense_of("0000:01:00.0");
    assert_true(fabs(sense.temp_c - 33) < 1e-9 && fabs(sense.power_w - 20) < 1e-9 && sense.core_hz == 19e6);
}

static void counts_other_processes(void **state)
{
    char own[64], name[128];
    (void)state;
    put_card();
    snprintf(own, sizeof(own), PROCESSES "%ld/", (long)getpid());
    put(PROCESSES "999999991/vram_28851", "5000000000\n");
    put(PROCESSES "999999992/vram_51499", "7000000000\n"); /* on the other card */
    put(PROCESSES "999999993/vram_28851", "0\n");          /* has it open as every process has */
    put(PROCESSES "README/vram_28851", "1\n");
    struct device_sense sense = sense_of("0000:05:00.0");
    assert_true(sense.other_processes == 0); /* the one listed is this process, under the number of another namespace */
    assert_true(isnan(sense.vram_own_bytes));
    snprintf(name, sizeof(name), "%svram_28851", own);
    put(name, "1000000\n");
    sense = sense_of("0000:05:00.0");
    assert_true(sense.other_processes == 1);
    assert_true(sense.vram_own_bytes == 1e6);
    put(PROCESSES "999999994/vram_28851", "4096\n");
    assert_true(sense_of("0000:05:00.0").other_processes == 2);
}

int main(void)
{
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)
    const struct CMUnitTest tests[] = {
        IN_TREE(describes_a_card),       IN_TREE(finds_the_card_of_a_partition),
        IN_TREE(describes_links),        IN_TREE(finds_the_far_node),
        IN_TREE(senses_a_card),          IN_TREE(knows_nothing_of_an_absent_card),
        IN_TREE(tolerates_any_bad_file), IN_TREE(takes_the_edge_where_it_is_alone),
        IN_TREE(counts_other_processes), IN_TREE(finds_network_cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
