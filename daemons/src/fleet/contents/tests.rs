use super::{Change, Contents, MAX_ENTRIES, MAX_ENTRY_BYTES, Serving, Steps, steps};
use crate::config::new_private_key;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn key() -> String {
    new_private_key().unwrap().1
}

fn home(name: &str, address: &str, key: &str) -> (String, String) {
    let value = format!(r#"{{"name":"{name}","addresses":["{address}"],"public_keys":["{key}"]}}"#);
    (format!("homes/{name}"), value)
}

fn names(contents: &Contents) -> Vec<String> {
    let view = contents.view(&["10.77.0.0/16".parse().unwrap()]);
    view.homes.into_iter().map(|home| home.name).collect()
}

#[test]
fn homes_come_and_go_and_the_revoked_are_left_out() {
    let mut contents = Contents::default();
    contents.replace(vec![home("a", "10.77.0.2", &key()), home("b", "10.77.0.3", &key())]);
    assert_eq!(names(&contents), ["a", "b"]);
    let change = |key: &str, value: Option<&str>| Change { key: key.into(), value: value.map(Into::into) };
    contents.apply(change("revoked/a", Some("1")));
    assert_eq!(names(&contents), ["b"]);
    contents.apply(change("revoked/a", None));
    contents.apply(change("homes/b", None));
    assert_eq!(names(&contents), ["a"]);
}

#[test]
fn what_makes_no_sense_is_counted_and_left_out() {
    let (mut contents, same) = (Contents::default(), key());
    let mut entries = vec![
        home("fine", "10.77.0.2", &same),
        home("same-address", "10.77.0.2", &key()),
        home("same-key", "10.77.0.9", &same),
        home("outside", "192.0.2.1", &key()),
        home("no-key", "10.77.0.4", "AAAA"),
        home("spaces in it", "10.77.0.5", &key()),
        ("homes/other".to_owned(), home("fine", "10.77.0.6", &key()).1),
        ("homes/long".to_owned(), "x".repeat(MAX_ENTRY_BYTES + 1)),
        ("gateways/g".to_owned(), "{}".to_owned()),
        ("serving/fine".to_owned(), "[]".to_owned()),
        ("else".to_owned(), String::new()),
    ];
    contents.replace(entries.clone());
    assert_eq!(names(&contents), ["fine"]);
    assert_eq!(contents.view(&["10.77.0.0/16".parse().unwrap()]).malformed.len(), entries.len() - 1);
    entries.extend((0..2 * MAX_ENTRIES).map(|n| (format!("revoked/{n}"), String::new())));
    contents.replace(entries);
    assert!(contents.0.len() <= MAX_ENTRIES);
}

proptest! {
    #[test]
    fn no_entry_makes_a_gateway_panic(
        entries in prop::collection::vec(("(homes|serving|gateways|revoked)?/?.{0,9}", ".{0,40}"), 0..20)
    ) {
        let mut contents = Contents::default();
        contents.replace(entries);
        let _ = contents.view(&["10.77.0.0/16".parse().unwrap()]);
    }
}

#[test]
fn a_home_that_moves_is_claimed_by_one_gateway_and_let_go_by_the_other() {
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let at = |gateway: &str| {
        let serving = Serving { gateway: gateway.to_owned(), since: 0 };
        BTreeMap::from([("house".to_owned(), serving)])
    };
    let served = set(&["house"]);
    let mut claimed = set(&[]);
    let claim = Steps { claim: vec!["house".to_owned()], ..Steps::default() };
    assert_eq!(steps("a", &served, &mut claimed, &BTreeMap::new()), claim);
    assert_eq!(steps("a", &served, &mut claimed, &at("b")), claim, "it has come here: taken over");
    assert_eq!(steps("a", &served, &mut claimed, &at("a")), Steps::default());
    let let_go = Steps { let_go: served.clone(), ..Steps::default() };
    assert_eq!(steps("a", &served, &mut claimed, &at("b")), let_go, "it has gone there");
    assert_eq!(steps("a", &set(&[]), &mut claimed, &at("b")), Steps::default(), "b's entry stays");
    assert_eq!(steps("a", &served, &mut claimed, &at("b")), claim, "it has come back");
    assert_eq!(steps("a", &served, &mut claimed, &at("a")), Steps::default());
    let release = Steps { release: vec!["house".to_owned()], ..Steps::default() };
    assert_eq!(steps("a", &set(&[]), &mut claimed, &at("a")), release);
}
