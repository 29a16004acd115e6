/* SPDX-License-Identifier: MIT
 *
 * Facts about how a GPU is connected to its host, to other GPUs and to network cards. PCI and network: the kernel's
 * files (Documentation/ABI: sysfs-bus-pci, sysfs-class-infiniband, sysfs-class-net). AMD: the links of KFD's topology
 * (written by kfd_topology.c). NVIDIA: NVML.
 */

#include "telemetry.h"

/* ---- PCI ---- */

/* Transfers per second and lane, by generation from 1 on, from the PCI Express specifications. */
static const double gts[] = {2.5, 5, 8, 16, 32, 64};

/* Derives the generation from "16.0 GT/s PCIe"; 0: unknown. */
static uint32_t generation(const char *card, const char *name)
{
    char text[48];
    if (!sysfs_text(text, sizeof(text), card, name))
        return 0;
    const double rate = strtod(text, NULL);
    for (uint32_t k = 0; k < COUNT_OF(gts); k++)
        if (rate == gts[k])
            return k + 1;
    return 0;
}

/* A sleeping card reports 255, or nothing. */
static uint32_t width(const char *card, const char *name)
{
    const double lanes = sysfs_number(card, name);
    return lanes >= 1 && lanes <= 32 ? (uint32_t)lanes : 0;
}

static void describe_pcie(struct device_pcie *pcie, const char *card)
{
    pcie->generation = generation(card, "current_link_speed");
    pcie->width = width(card, "current_link_width");
    pcie->max_generation = generation(card, "max_link_speed");
    pcie->max_width = width(card, "max_link_width");
    sysfs_text(pcie->cpus, sizeof(pcie->cpus), card, "local_cpulist");
}

/* ---- NUMA ---- */

/* A node without processors may be a GPU's memory. */
static uint32_t far_node(const struct telemetry *telemetry)
{
    char folder[TELEMETRY_PATH], text[4096], cpus[64];
    const double own = sysfs_number(telemetry->card, "numa_node");
    uint32_t far = 0, node = 0;
    long most = 0;
    if (!(own >= 0))
        return 0;
    snprintf(folder, sizeof(folder), "%s/devices/system/node/node%.0f", telemetry->root, own);
    if (!sysfs_text(text, sizeof(text), folder, "distance"))
        return 0;
    for (char *at = text, *end = NULL;; at = end, node++) {
        const long distance = strtol(at, &end, 10);
        if (end == at)
            return far;
        snprintf(folder, sizeof(folder), "%s/devices/system/node/node%u", telemetry->root, (unsigned)node);
        if ((double)node == own || distance <= most || !sysfs_text(cpus, sizeof(cpus), folder, "cpulist") || !cpus[0])
            continue;
        most = distance;
        far = node + 1;
    }
}

/* ---- KFD ---- */

/* Values of HSA_IOLINKTYPE (kfd_crat.h). */
static const char *type_name(uint64_t type)
{
    return type == 11 ? "xgmi" : type == 2 ? "pcie" : NULL;
}

static bool read_link(struct device_link *link, const struct telemetry *telemetry, const char *folder)
{
    char text[4096], node[TELEMETRY_PATH];
    uint64_t type = 0, to = 0, weight = 0, mbps = 0;
    *link = (struct device_link){.count = 1};
    if (!sysfs_text(text, sizeof(text), folder, "properties") || !sysfs_property(&type, text, "type") ||
        !sysfs_property(&to, text, "node_to") || !type_name(type))
        return false;
    SET_TEXT(link->type, "%s", type_name(type));
    snprintf(node, sizeof(node), "%s/class/kfd/kfd/topology/nodes/%llu", telemetry->root, (unsigned long long)to);
    telemetry_node_bdf(link->peer, node);
    if (sysfs_property(&weight, text, "weight"))
        link->weight = (uint32_t)weight;
    if (sysfs_property(&mbps, text, "max_bandwidth"))
        link->max_bytes_per_s = (double)mbps * 1e6; /* 0 if the driver does not know it */
    return link->peer[0] != '\0';
}

/* ---- network cards ---- */

#define HOST_BRIDGE "/devices/pci"

/* Classifies the bridges between the two by their paths below /sys/devices, with the terms of nvidia-smi's topology:
 * PIX one switch, PXB several, PHB the processor's host bridge, NODE another one of the same NUMA node, SYS another
 * node. */
static const char *distance_between(const char *a, const char *b, double node_a, double node_b)
{
    size_t common = 0, rest[2] = {0};
    for (size_t k = 0; a[k] && a[k] == b[k]; k++)
        if (a[k] == '/')
            common = k + 1;
    const char *root = strstr(a, HOST_BRIDGE);
    if (!root || !strstr(b, HOST_BRIDGE))
        return "";
    root += strlen("/devices");
    if (a + common <= root + 1)
        return !(node_a >= 0) || !(node_b >= 0) ? "" : node_a == node_b ? "NODE" : "SYS";
    if (!memchr(root + 1, '/', (size_t)(a + common - root - 2)))
        return "PHB";
    for (int side = 0; side < 2; side++)
        for (const char *at = (side ? b : a) + common - 1; at; at = strchr(at + 1, '/'))
            rest[side]++;
    return rest[0] <= 2 && rest[1] <= 2 ? "PIX" : "PXB";
}

/* InfiniBand and RoCE: "400 Gb/sec (4X NDR)" of the first port; Ethernet: Mb/s, -1 without a link. */
static void read_nic(struct device_nic *nic, const char *folder, bool infiniband)
{
    const double rate = sysfs_number(folder, infiniband ? "ports/1/rate" : "speed");
    nic->max_bytes_per_s = rate > 0 ? rate * (infiniband ? 1e9 : 1e6) / 8 : 0;
    char text[32]; /* "4: ACTIVE" and "up" alike */
    if (sysfs_text(text, sizeof(text), folder, infiniband ? "ports/1/state" : "operstate")) {
        const char *blank = strchr(text, ' ');
        SET_TEXT(nic->state, "%s", blank ? blank + 1 : text);
        for (char *at = nic->state; *at; at++)
            *at = (char)tolower((unsigned char)*at);
    }
    SET_TEXT(nic->name, "%s", strrchr(folder, '/') + 1);
}

/* Skips Ethernet names of cards that InfiniBand's list already contains, and interfaces that are not cards (lo,
 * bridges). */
static void describe_nics(struct device_info *info, const struct telemetry *telemetry)
{
    char card[PATH_MAX], paths[DEVICE_MAX_NICS][PATH_MAX];
    if (!realpath(telemetry->card, card))
        return;
    for (int infiniband = 1; infiniband >= 0; infiniband--) {
        glob_t found;
        sysfs_find(&found, telemetry->root, infiniband ? "class/infiniband/*" : "class/net/*");
        for (size_t i = 0; i < found.gl_pathc && info->nic_count < DEVICE_MAX_NICS; i++) {
            struct device_nic *nic = &info->nics[info->nic_count];
            char device[PATH_MAX], *path = paths[info->nic_count];
            uint32_t known = 0;
            snprintf(device, sizeof(device), "%s/device", found.gl_pathv[i]);
            if (!realpath(device, path) || !strstr(path, HOST_BRIDGE))
                continue;
            while (known < info->nic_count && strcmp(paths[known], path) != 0)
                known++;
            if (known < info->nic_count && !infiniband)
                continue;
            *nic = (struct device_nic){.width = width(path, "current_link_width"),
                                       .max_width = width(path, "max_link_width")};
            read_nic(nic, found.gl_pathv[i], infiniband);
            SET_TEXT(nic->distance, "%s",
                     distance_between(card, path, sysfs_number(card, "numa_node"), sysfs_number(path, "numa_node")));
            info->nic_count++;
        }
        globfree(&found);
    }
}

void topology_describe(struct device_info *info, const struct telemetry *telemetry)
{
    if (!telemetry->card[0])
        return;
    describe_pcie(&info->pcie, telemetry->card);
    info->pcie.far_node = far_node(telemetry);
    describe_nics(info, telemetry);
    if (telemetry->node[0]) {
        /* Only the card's first node is read; its partitions share the same physical links. */
        static const char *const kinds[] = {"io_links", "p2p_links"};
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            char pattern[TELEMETRY_PATH];
            glob_t found;
            SET_TEXT(pattern, "class/kfd/kfd/topology/nodes/%s/%s/[0-9]*", telemetry->node, kinds[k]);
            sysfs_find(&found, telemetry->root, pattern);
            for (size_t i = 0; i < found.gl_pathc && info->link_count < DEVICE_MAX_LINKS; i++)
                info->link_count += read_link(&info->links[info->link_count], telemetry, found.gl_pathv[i]);
            globfree(&found);
        }
    }
}
