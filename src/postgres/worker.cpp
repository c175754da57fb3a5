#include "postgres/worker.hpp"

#include <sys/socket.h>

#include <utility>

namespace order_timeout::postgres {
namespace {

// A connection that we broke ourselves did not break: it was too slow. What may have been written
// stays unknown.
void name_the_deadline(Task& task) {
  if (task.failure() == nullptr) return;
  Failure failure = *task.failure();
  if (failure.kind == FailureKind::unavailable) failure.kind = FailureKind::timed_out;
  if (failure.sqlstate.empty()) failure.detail = "PostgreSQL did not answer within the deadline";
  task.fail(std::move(failure));
}

}  // namespace

Worker::Worker(WorkerOptions options, std::function<void(Report)> report)
    : options_(std::move(options)), report_(std::move(report)), thread_([this] { run(); }) {}

Worker::~Worker() {
  retire();
  cut();
  thread_.join();
}

void Worker::give(std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  cut_ = false;
  finished_ = false;
  given_ = std::move(task);
  changed_.notify_one();
}

Cut Worker::cut() {
  const std::lock_guard lock(mutex_);
  if (finished_) return Cut::finished;
  cut_ = true;
  if (socket_ < 0) return Cut::connecting;
  ::shutdown(socket_, SHUT_RDWR);
  return Cut::running;
}

void Worker::retire() {
  const std::lock_guard lock(mutex_);
  retired_ = true;
  changed_.notify_one();
}

void Worker::run() {
  while (auto task = next()) report_(perform(std::move(task)));
  if (connection_ != nullptr) connection_->close();
  connection_.reset();
}

std::unique_ptr<Task> Worker::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return given_ != nullptr || retired_; });
  return std::exchange(given_, nullptr);
}

Report Worker::perform(std::unique_ptr<Task> task) {
  Report report;
  drop_where_spent();
  const bool reopening = connection_ == nullptr && broken_before_;
  const bool ready = ensure_open(*task);
  if (ready) task->perform(*connection_);
  const bool cut = withdraw();
  if (cut) name_the_deadline(*task);
  if (connection_ != nullptr && (cut || !ready || !connection_->open())) {
    report.lost = connection_->backend();
    connection_.reset();
    broken_before_ = true;
  }
  report.reopened = ready && reopening;
  report.open = connection_ != nullptr;
  report.task = std::move(task);
  return report;
}

// An idle connection that has reached its age, or that the server has ended meanwhile.
void Worker::drop_where_spent() {
  if (connection_ == nullptr) return;
  const bool aged = std::chrono::steady_clock::now() >= spent_at_;
  if (!aged && connection_->usable()) return;
  broken_before_ = !aged;
  connection_->close();
  connection_.reset();
}

// The socket is published before the first statement, so that a server that hangs then is cut as
// well.
bool Worker::ensure_open(Task& task) {
  try {
    if (connection_ == nullptr) open();
    publish(connection_->socket());
    return true;
  } catch (const std::exception& error) {
    task.fail(classify(error));
    return false;
  }
}

void Worker::open() {
  auto connection = std::make_unique<Connection>(options_.connection);
  connection_ = std::move(connection);
  publish(connection_->socket());
  connection_->begin_session();
  // Connections opened together do not end together.
  std::uniform_real_distribution<double> share(0.9, 1.0);
  const double lifetime_ms = static_cast<double>(options_.max_lifetime.count()) * share(random_);
  spent_at_ = std::chrono::steady_clock::now() + Duration(static_cast<std::int64_t>(lifetime_ms));
  broken_before_ = false;
}

void Worker::publish(int socket) {
  const std::lock_guard lock(mutex_);
  if (cut_) throw ConnectFailed("the deadline passed before a connection was there");
  socket_ = socket;
}

bool Worker::withdraw() {
  const std::lock_guard lock(mutex_);
  socket_ = -1;
  finished_ = true;
  return cut_;
}

}  // namespace order_timeout::postgres
