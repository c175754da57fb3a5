// Members of the ZSET that could name an order are looked up, garbage is not: one row per kind of
// garbage.
#include "order_timeout/reminder_member.hpp"

#include <gtest/gtest.h>

#include <string>

namespace order_timeout {
namespace {

using namespace std::string_literals;

TEST(ReminderMember, TakesWhatAnOrderNumberMayBe) {
  for (const std::string& member :
       {"N1"s, "2026-11-30/7"s, "订单42"s, "\xF0\x9F\x98\x80"s, std::string(128, 'x')}) {
    EXPECT_TRUE(could_name_an_order(member, ReminderMember::order_no)) << member;
  }
}

TEST(ReminderMember, RefusesWhatNoOrderNumberIs) {
  for (const std::string& member :
       {""s, std::string(129, 'x'), "a\0b"s, "\xFF\xFE"s, "\xC0\xAF"s, "\xED\xA0\x80"s,
        "\xF5\x80\x80\x80"s, "\xE4\xBD"s, "\xF0\x80\x80\x80"s}) {
    EXPECT_FALSE(could_name_an_order(member, ReminderMember::order_no)) << member;
  }
}

TEST(ReminderMember, TakesOnlyDecimalIdsWhereMembersAreIds) {
  for (const std::string& id : {"0"s, "1"s, "-5"s, "9223372036854775807"s}) {
    EXPECT_TRUE(could_name_an_order(id, ReminderMember::id)) << id;
  }
  for (const std::string& id :
       {"01"s, "+1"s, "1 "s, "1e3"s, "9223372036854775808"s, "N1"s, "-0"s}) {
    EXPECT_FALSE(could_name_an_order(id, ReminderMember::id)) << id;
  }
}

}  // namespace
}  // namespace order_timeout
