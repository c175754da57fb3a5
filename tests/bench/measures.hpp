// One measurement in a process of its own, so that nobody inherits another's memory; its figures go
// to the table as "name value" lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bench {

using Figures = std::map<std::string, double>;

// By the name of a contender and a shape; "soak", "empty" and "bounds" are measurements too.
// Exits with a message where orders did not fire exactly when they were due.
Figures measure(const std::string& contender, char shape, std::uint64_t orders);

Figures measure_bounds(std::uint64_t entries);

void print_table(const std::string& program, std::uint64_t orders_max);

}  // namespace bench
