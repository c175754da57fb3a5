// What every verb is given, and what the verbs are. A verb returns the exit code of the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "order_timeout/config.hpp"

namespace order_timeout::ctl {

struct Invocation {
  Config config;
  std::string url;    // to connect with instead of database.url; empty: database.url
  bool json = false;  // one JSON document on standard output instead of text

  const std::string& database_url() const { return url.empty() ? config.database.url : url; }
};

struct CloseRequest {
  std::vector<std::string> order_nos;
  std::string user;
  std::string business_line;
  std::string from, to;  // created_at, RFC 3339; empty: open
  bool not_due = false;
  bool dry_run = false;
  std::int64_t limit = 0;  // 0: none given
  std::string reason;
};

struct PauseRequest {
  std::string business_line;  // at most one of the two; neither: all closing
  std::string event;
  std::string until;  // RFC 3339; empty: until it is resumed
  std::string reason;
};

struct HoldRequest {
  std::vector<std::string> order_nos;
  std::string held_by;  // unhold: instead of order numbers, all that this one holds
  bool all = false;
  std::string reason;
};

struct ExtendRequest {
  std::string order_no;
  std::string until;   // RFC 3339; empty: by `longer`
  std::string longer;  // a duration, as 10m
  std::string reason;
};

int migrate(const Invocation& invocation, bool drop_view);
int print_sql(const Invocation& invocation);
int status(const Invocation& invocation);
int check(const Invocation& invocation);
int close(const Invocation& invocation, const CloseRequest& request);
int pause(const Invocation& invocation, const PauseRequest& request);
int resume(const Invocation& invocation, const PauseRequest& request);
// `confirmed`: whoever asks knows how many orders it makes due.
int reload(const Invocation& invocation, bool confirmed);
int hold(const Invocation& invocation, const HoldRequest& request);
int unhold(const Invocation& invocation, const HoldRequest& request);
int list_held(const Invocation& invocation);
int extend(const Invocation& invocation, const ExtendRequest& request);

// Who asks: the person behind sudo where there is one.
std::string operator_name();

}  // namespace order_timeout::ctl
