use super::*;
use alloc::collections::BTreeSet;
use proptest::prelude::*;

#[test]
fn reordered_numbers_pass_once_within_the_window() {
    let mut window = ReplayWindow::new();
    for (number, accepted) in [
        (0, true),
        (0, false),
        (5, true),
        (3, true),
        (3, false),
        (5, false),
        (4, true),
        (2000, true),
        (4, false),
    ] {
        assert_eq!(window.accept(number), accepted, "{number}");
    }
    assert!(window.accept(2001 - WINDOW), "just within the window");
    assert!(!window.accept(2000 - WINDOW), "just outside");
}

#[test]
fn the_last_number_is_never_used() {
    assert!(!ReplayWindow::new().accept(u64::MAX));
}

proptest! {
    #[test]
    fn no_number_passes_twice_and_none_within_the_window_is_lost(
        steps in proptest::collection::vec((0u64..5000, any::<bool>()), 1..400)
    ) {
        let (mut window, mut seen, mut base) = (ReplayWindow::new(), BTreeSet::new(), 0);
        for (step, jumps) in steps {
            if jumps {
                base += step;
            }
            let number = base + step % 70;
            let highest = seen.iter().max().copied();
            let fresh = seen.insert(number);
            let within = highest.is_none_or(|highest| number > highest || highest + 1 - number <= WINDOW);
            let accepted = window.accept(number);
            prop_assert!(fresh || !accepted, "{} passed twice", number);
            prop_assert!(accepted == (fresh && within), "{} fresh {} within {}", number, fresh, within);
        }
    }
}
