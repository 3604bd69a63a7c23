use super::Accounts;
use prismux_sharing::{Account, Carried, Day, LocalTime, journal};
use prismux_units::Instant;
use std::fs;
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    let file = std::env::temp_dir().join(format!("prismux-{name}-{}.accounts", std::process::id()));
    let _ = fs::remove_file(&file);
    file
}

fn at(second: u64) -> (Instant, LocalTime) {
    (Instant::from_secs(second), LocalTime { day: Day::from_date(2026, 11, 23).unwrap(), minute: 0 })
}

fn counter(bytes: u64) -> impl Iterator<Item = (Account, Carried)> {
    std::iter::once((Account::new("wan0", "gateway"), Carried { forward_bytes: bytes, return_bytes: 1 }))
}

fn kept(file: &PathBuf) -> Vec<u64> {
    let (ledger, torn) = journal::read(&fs::read_to_string(file).unwrap());
    assert_eq!(torn, 0);
    ledger.entries().map(|entry| entry.carried.forward_bytes).collect()
}

#[test]
fn accounts_go_on_where_a_daemon_that_was_killed_had_written_them() {
    let file = file("killed");
    let mut accounts = Accounts::open(file.clone());
    let mut times = (0..=12).map(at);
    for (bytes, (now, time)) in [1000, 2000, 3000, 4000, 5000, 6000, 7000].into_iter().zip(&mut times) {
        accounts.book(now, time, counter(bytes));
        accounts.keeper.as_mut().unwrap().finish();
    }
    // Without its last words: what came after it had written last is lost.
    std::mem::forget(accounts);
    assert_eq!(kept(&file), [6000]);
    let mut accounts = Accounts::open(file.clone());
    let (now, time) = at(0);
    accounts.book(now, time, counter(500));
    drop(accounts);
    assert_eq!(kept(&file), [6500], "a counter that begins anew is added");
    fs::remove_file(file).unwrap();
}

#[test]
fn a_torn_line_is_left_out_and_the_next_one_stands_alone() {
    let file = file("torn");
    let (_, time) = at(0);
    let mut accounts = Accounts::open(file.clone());
    accounts.book(Instant::ZERO, time, counter(1000));
    drop(accounts);
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
    let mut accounts = Accounts::open(file.clone());
    accounts.book(Instant::ZERO, time, counter(1));
    drop(accounts);
    assert_eq!(kept(&file), [1001]);
    fs::remove_file(file).unwrap();
}

#[test]
fn a_long_file_is_written_anew() {
    let file = file("long");
    let mut accounts = Accounts::open(file.clone());
    accounts.keeper.as_mut().unwrap().added_lines = 2 * super::keeper::MAX_ADDED_LINES;
    for second in 0..2 {
        let (now, time) = at(5 * second);
        accounts.book(now, time, counter(second + 1));
        accounts.keeper.as_mut().unwrap().finish();
    }
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2, "one whole, one added");
    drop(accounts);
    fs::remove_file(file).unwrap();
}

#[test]
fn accounts_that_cannot_be_kept_are_counted_all_the_same() {
    let mut accounts = Accounts::open("/proc/no/such.accounts".into());
    let (now, time) = at(0);
    accounts.book(now, time, counter(1000));
    assert_eq!(accounts.file(), None);
    assert_eq!(accounts.ledger().of_link("wan0", time.day, time.day.next()).total_bytes(), 1001);
}
