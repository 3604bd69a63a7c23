//! Links that are lent on credit.
use prismux_properties::cases;
use prismux_sharing::{Balance, Credit, CreditLeft, Ledger, LocalTime, Rest, Share, Terms};
use prismux_units::ByteCount;
use proptest::prelude::*;

fn balance(owed_bytes: u64, repaid_bytes: u64) -> Balance {
    Balance { owed_bytes, repaid_bytes }
}

/// A link of which so much has been lent and repaid.
fn judge(share: &mut Share, credit: Credit, balance: Balance) -> Option<Rest> {
    share.set_credit(credit.left(balance));
    share.judge(LocalTime::default(), &Ledger::default(), "wan0");
    share.rest()
}

#[test]
fn who_owes_its_limit_gets_nothing_more_until_a_part_has_come_back() {
    let credit = Credit { limit: Some(ByteCount::new(1600)), at_first: None };
    let mut share = Share::new(Terms::default());
    assert_eq!(judge(&mut share, credit, balance(1599, 0)), None);
    share.carry(1);
    assert!(share.is_used_up());
    let rest = judge(&mut share, credit, balance(1600, 0)).unwrap();
    assert_eq!(
        rest.to_string(),
        "its borrower owes the 1.6 kB of its credit, and has to lend something back first"
    );
    assert!(judge(&mut share, credit, balance(1600, 99)).is_some(), "a sixteenth of it");
    assert_eq!(judge(&mut share, credit, balance(1600, 100)), None);
    assert!(judge(&mut share, credit, balance(1700, 100)).is_some());
}

#[test]
fn who_has_lent_nothing_yet_gets_what_is_given_at_first() {
    let credit = Credit { limit: Some(ByteCount::new(1000)), at_first: Some(ByteCount::new(10)) };
    let left = |balance| credit.left(balance).map(|left| left.left_bytes);
    assert_eq!(
        [left(balance(4, 0)), left(balance(10, 0)), left(balance(11, 0))],
        [Some(6), Some(0), Some(0)]
    );
    assert_eq!(left(balance(10, 1)), Some(991));
    assert_eq!(left(balance(10, 5000)), Some(5990), "who has lent more than it owes has it beside the limit");
    assert_eq!(Credit::default().left(balance(u64::MAX, 0)), None);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_more_is_lent_than_the_limit_and_what_came_back(
        limit in 1..1_000_000_u64,
        steps in prop::collection::vec((0..3000_u64, 0..3000_u64), 1..200),
    ) {
        let credit = Credit { limit: Some(ByteCount::new(limit)), at_first: None };
        let mut share = Share::new(Terms::default());
        let mut now = balance(0, 0);
        for (packet, repaid) in steps {
            now.repaid_bytes += repaid;
            let rest = judge(&mut share, credit, now);
            if rest.is_none() && !share.is_used_up() {
                share.carry(packet);
                now.owed_bytes += packet;
            }
            prop_assert!(now.owed_bytes < limit + now.repaid_bytes + 3000, "one packet more at most");
            let CreditLeft { left_bytes, .. } = credit.left(now).unwrap();
            prop_assert!(rest.is_some() || left_bytes < limit + now.repaid_bytes + 1);
        }
    }
}
