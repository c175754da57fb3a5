// The bulkhead's bookkeeping of server processes whose connection broke or was cut: looked for
// through a connection that works, soon and then once a second, and counted against the bound
// until they are gone.
#include <algorithm>
#include <chrono>

#include "postgres/array_text.hpp"
#include "postgres/bulkhead.hpp"
#include "postgres/embedded_sql.hpp"

namespace order_timeout::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstLook = 50ms;  // most have ended by then
constexpr Duration kLookInterval = 1s;
constexpr Duration kLookDeadline = 2s;

// Which of these server processes are still there.
std::vector<Backend> alive_among(Connection& connection, const std::vector<Backend>& backends) {
  std::vector<std::int64_t> pids;
  std::vector<std::string> starts;
  for (const Backend& backend : backends) {
    pids.push_back(backend.pid);
    starts.push_back(backend.started);
  }
  const Params params{array_text(pids), array_text(starts)};
  const Rows rows = connection.read(embedded_sql("queries/backends_alive.sql"), params);
  std::vector<Backend> alive;
  for (int i = 0; i < rows.size(); ++i) {
    alive.push_back(Backend{static_cast<int>(rows.integer(i, 0)), rows.text(i, 1)});
  }
  return alive;
}

}  // namespace

void Bulkhead::count_as_lost(const Backend& backend) {
  lost_.push_back(backend);
  look_wait_ = kFirstLook;
}

// As many members rest as server processes are lost, but one always works.
void Bulkhead::park_for_lost() {
  const auto resting = static_cast<std::size_t>(std::ranges::count_if(members_, &Member::parked));
  const std::size_t wanted = std::min(lost_.size(), members_.size() - 1);
  std::size_t surplus = resting - std::min(resting, wanted);
  for (Member& member : members_) {
    if (surplus == 0) break;
    if (!member.parked) continue;
    member.parked = false;
    --surplus;
  }
  if (!lost_.empty()) look_later();
}

void Bulkhead::look_later() {
  if (looking_ || stopping_ || lost_.empty()) return;
  looking_ = true;
  look_timer_.expires_after(look_wait_);
  look_wait_ = std::min(2 * look_wait_, kLookInterval);
  const std::weak_ptr<const bool> alive = alive_;
  look_timer_.async_wait([this, alive](boost::system::error_code error) {
    if (!error && !alive.expired()) look_for_lost();
  });
}

// Through a free member, one that nobody has reserved where there is one; else as soon as one is
// free.
void Bulkhead::look_for_lost() {
  look_due_ = false;
  if (stopping_) return;
  Member* through = nullptr;
  for (Member& member : members_) {
    const bool free = !member.parked && member.call == nullptr;
    if (free && (through == nullptr || member.open || !through->open)) through = &member;
  }
  look_due_ = through == nullptr;
  if (look_due_) return;
  auto work = [asked = lost_](Connection& connection) { return alive_among(connection, asked); };
  auto call = std::make_shared<CallFor<std::vector<Backend>>>(loop_, Use::discovery, kLookDeadline);
  // The call owns the callback, which is called while the call lives.
  call->when_answered = [this, answer = call.get(), asked = lost_] {
    looking_ = false;
    if (*answer->result) strike_lost(asked, **answer->result);
    look_later();
  };
  start(*through, std::move(call), std::make_unique<TaskFor<decltype(work)>>(std::move(work)));
}

void Bulkhead::strike_lost(const std::vector<Backend>& asked,
                           const std::vector<Backend>& still_there) {
  std::erase_if(lost_, [&](const Backend& backend) {
    return std::ranges::find(asked, backend) != asked.end() &&
           std::ranges::find(still_there, backend) == still_there.end();
  });
  park_for_lost();
}

}  // namespace order_timeout::postgres
