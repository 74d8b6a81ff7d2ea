#!/bin/bash
# Judges a shard of captures/ as a test of Bazel, whose files lie below the current folder.
set -eu

# This tells that shards are known here.
touch "$TEST_SHARD_STATUS_FILE"
exec reprise conform trace captures/ --shard "$((TEST_SHARD_INDEX + 1))/$TEST_TOTAL_SHARDS" \
  --report junit="$XML_OUTPUT_FILE"
