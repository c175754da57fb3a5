// Reload: a changed configuration is adopted as a whole, between two decisions, or refused with its
// reasons; a refusal changes nothing. Read attempt() for the flow.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/context.hpp"
#include "order_timeout/config_changes.hpp"

namespace order_timeout::daemon {

// Why a reload ended as it did: the same words in the log and on the control socket.
enum class ReloadEnd : std::uint8_t {
  ok,             // in force, as a whole
  configuration,  // the file has errors, or the daemon cannot work with it
  database,       // PostgreSQL did not answer, or its objects do not fit
  restart,        // a changed key needs a restart
  guard,          // too many orders would be due at once
  busy,           // another reload is under way, or the daemon starts or stops
};

struct ReloadAnswer {
  ReloadEnd end = ReloadEnd::ok;
  std::string message;  // one line
  std::vector<ConfigError> mistakes;
  std::vector<ConfigChange> changes;
  std::vector<std::string> preview;  // "flash_sale timeout 30m -> 10m: 1,240 orders due at once"
  std::int64_t due_at_once = 0;
  std::int64_t revision = 0;  // of the rules in force
};

// The word of CONFIG_RELOADS_TOTAL: ok | error | refused.
std::string_view result_of(ReloadEnd end);
std::string_view to_string(ReloadEnd end);

class ReloadService {
 public:
  // What only the daemon as a whole can do.
  struct Steps {
    std::function<std::variant<ParsedConfig, std::vector<ConfigError>>()> load;
    std::function<Result<Done>(const Config&)> prepare;  // makes what is needed; changes nothing
    std::function<void(ParsedConfig)> adopt;             // what was prepared, at once
  };

  ReloadService(Context& context, const ParsedConfig& in_force, Steps steps)
      : c_(context), in_force_(in_force), steps_(std::move(steps)), wanted_bell_(context.loop) {}

  // `confirmed`: a person knows how many orders it makes due.
  boost::asio::awaitable<ReloadAnswer> reload(bool confirmed);

  // SIGHUP: as soon as serve() turns. Many are one.
  void request();
  // The daemon stops: serve() is to see it.
  void wake() { wanted_bell_.ring(); }
  // Reopens the log files and reloads, once for all requests that came meanwhile.
  boost::asio::awaitable<void> serve();

 private:
  boost::asio::awaitable<ReloadAnswer> attempt(bool confirmed);
  boost::asio::awaitable<ReloadAnswer> put_in_force(Config config, ReloadAnswer answer,
                                                    bool confirmed);
  void keep_snapshot();
  void report(const ReloadAnswer& answer);

  Context& c_;
  const ParsedConfig& in_force_;
  Steps steps_;
  Bell wanted_bell_;
  bool wanted_ = false;
  std::int64_t coalesced_ = 0;
  bool busy_ = false;
};

}  // namespace order_timeout::daemon
