#!/bin/bash
# When a node starts: settings that collective communication wants.
set -eu
sysctl -q -w net.core.rmem_max=134217728 net.core.wmem_max=134217728
echo always >/sys/kernel/mm/transparent_hugepage/enabled
