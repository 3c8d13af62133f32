#!/bin/bash
# Runs before each job.
exit 0
