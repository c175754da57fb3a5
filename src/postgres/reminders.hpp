// Members of reminders, turned into the orders they name. Blocking; runs on a connection's thread.
#pragma once

#include <string>
#include <vector>

#include "order_timeout/config.hpp"
#include "ports.hpp"
#include "postgres/connection.hpp"

namespace order_timeout::postgres {

// One answer a member, in their order. Any bytes: what PostgreSQL could not hold, or is no id where
// ids are wanted, names no order and is not asked for. Of several orders with one number the
// pending one with the least id counts.
std::vector<ResolvedReminder> resolve_members(Connection& connection,
                                              const std::vector<std::string>& members,
                                              ReminderMember kind);

}  // namespace order_timeout::postgres
