// Proves that every decision on an order and every end of an event has its line in audit.log, once,
// and that what is only asked again soon has none.
#include "telemetry/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/telemetry/log_directory.hpp"

namespace order_timeout::telemetry {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Instant kDue = instant_from_ms(1'796'060'926'000);
constexpr Instant kNow = instant_from_ms(1'796'060'926'003);

CloseResult result_of(CloseOutcome outcome, OrderId id = 7) {
  CloseResult result;
  result.id = id;
  result.outcome = outcome;
  result.order_no = "A-7";
  result.business_line = "flash_sale";
  result.due = kDue;
  return result;
}

OutboxEvent event() {
  OutboxEvent event;
  event.event_key = "7:RELEASE_STOCK";
  event.order_id = 7;
  event.order_no = "A-7";
  event.event_type = "RELEASE_STOCK";
  event.due = kDue;
  event.attempt = 3;
  return event;
}

DeliveryOutcome outcome_of(DeliveryKind kind, const std::string& detail = {}) {
  DeliveryOutcome outcome;
  outcome.kind = kind;
  outcome.detail = detail;
  return outcome;
}

class AuditLog : public testing::Test {
 protected:
  std::vector<std::string> lines(const std::string& name = "audit.log") {
    log_->flush();
    return directory_.lines(name);
  }
  LogDirectory directory_;
  std::unique_ptr<Log> log_ = directory_.open();
  Audit audit_{*log_};
};

TEST_F(AuditLog, SaysWhichOrderWasClosedAndHowLate) {
  audit_.decided(result_of(CloseOutcome::closed), Source::wheel, kNow);
  EXPECT_THAT(lines(), ElementsAre(EndsWith(
                           " INFO close: closed order_no=A-7 order_id=7 business_line=flash_sale "
                           "due=2026-11-30T17:48:46.000Z late_ms=3 source=wheel")));
}

TEST_F(AuditLog, HasALineForEveryCloseAndEveryFailure) {
  for (int i = 0; i < 3; ++i) {
    audit_.decided(result_of(CloseOutcome::closed), Source::wheel, kNow);
    audit_.decided(result_of(CloseOutcome::failed), Source::wheel, kNow);
  }
  EXPECT_THAT(lines(), SizeIs(6));
}

TEST_F(AuditLog, NamesEveryFinalOutcomeByItsReasonCode) {
  int count = 0;
  for (const CloseOutcome outcome :
       {CloseOutcome::already_paid, CloseOutcome::already_closed, CloseOutcome::other_status,
        CloseOutcome::held, CloseOutcome::payment_evidence, CloseOutcome::payment_unknown,
        CloseOutcome::reopened, CloseOutcome::missing, CloseOutcome::for_review,
        CloseOutcome::shadowed, CloseOutcome::ignored, CloseOutcome::not_listed,
        CloseOutcome::too_old, CloseOutcome::paused, CloseOutcome::failed}) {
    audit_.decided(result_of(outcome, ++count), Source::redis, kNow);
    EXPECT_THAT(lines().back(),
                HasSubstr(" close: " + std::string{to_string(outcome)} + " order_no="));
  }
  EXPECT_THAT(lines(), SizeIs(count));
}

TEST_F(AuditLog, IsSilentAboutWhatIsAskedAgainSoon) {
  for (const CloseOutcome outcome :
       {CloseOutcome::not_due, CloseOutcome::locked, CloseOutcome::version_moved,
        CloseOutcome::payment_in_progress}) {
    audit_.decided(result_of(outcome), Source::wheel, kNow);
  }
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(AuditLog, RepeatsADecisionOnlyWhenItChanged) {
  for (int i = 0; i < 5; ++i) audit_.decided(result_of(CloseOutcome::paused), Source::wheel, kNow);
  EXPECT_THAT(lines(), SizeIs(1));
  audit_.decided(result_of(CloseOutcome::held), Source::wheel, kNow);
  audit_.decided(result_of(CloseOutcome::paused), Source::wheel, kNow);
  audit_.decided(result_of(CloseOutcome::paused, 8), Source::wheel, kNow);
  EXPECT_THAT(lines(), SizeIs(4));
}

TEST_F(AuditLog, SaysWhyAnOrderWasSetAside) {
  const Failure failure{
      .kind = FailureKind::rejected, .detail = "no such column", .sqlstate = "42703"};
  audit_.quarantined(7, failure, kDue);
  EXPECT_THAT(lines(),
              ElementsAre(EndsWith(" quarantine: failed order_id=7 kind=rejected sqlstate=42703 "
                                   "error=\"no such column\" retry_at=2026-11-30T17:48:46.000Z")));
}

TEST_F(AuditLog, NamesAReleasedEvent) {
  audit_.delivered(event(), outcome_of(DeliveryKind::already_done), EventStatus::success, kNow);
  EXPECT_THAT(
      lines(),
      ElementsAre(EndsWith(
          " event: released event_key=7:RELEASE_STOCK event_type=RELEASE_STOCK order_no=A-7 "
          "order_id=7 attempts=3 result=already_done after_due_ms=3")));
}

TEST_F(AuditLog, NamesADeadEventInBothLogs) {
  audit_.delivered(event(), outcome_of(DeliveryKind::rejected, "HTTP 422"), EventStatus::dead,
                   kNow);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr(" INFO event: dead event_key=7:RELEASE_STOCK")));
  EXPECT_THAT(
      lines("order-timeoutd.log"),
      ElementsAre(EndsWith(" ERROR event: dead event_key=7:RELEASE_STOCK event_type=RELEASE_STOCK "
                           "order_no=A-7 order_id=7 attempts=3 error=\"HTTP 422\"")));
}

TEST_F(AuditLog, IsSilentAboutAnEventThatIsTriedAgain) {
  audit_.delivered(event(), outcome_of(DeliveryKind::retry, "HTTP 503"), EventStatus::pending,
                   kNow);
  audit_.delivered(event(), outcome_of(DeliveryKind::uncertain), EventStatus::uncertain, kNow);
  EXPECT_THAT(lines(), IsEmpty());
}

}  // namespace
}  // namespace order_timeout::telemetry
