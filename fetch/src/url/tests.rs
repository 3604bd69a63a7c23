use super::*;
use proptest::prelude::*;

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn parse(text: &str) -> Result<Url, UrlError> {
    text.replace("KEY", KEY).parse()
}

#[test]
fn urls_with_names_addresses_ports_and_escapes() {
    for (text, host, port, path) in [
        ("prismux://KEY@example.net/a.iso", "example.net", DEFAULT_PORT, "a.iso"),
        ("prismux://KEY@192.0.2.7:99/dir/a%20b", "192.0.2.7", 99, "dir/a b"),
        ("prismux://KEY@[2001:db8::1]:99/a", "2001:db8::1", 99, "a"),
        ("prismux://KEY@[2001:db8::1]/a", "2001:db8::1", DEFAULT_PORT, "a"),
    ] {
        let url = parse(text).expect(text);
        assert_eq!((url.host.as_str(), url.port, url.path.as_str()), (host, port, path), "{text}");
        assert_eq!(url.to_string().parse(), Ok(url), "{text}");
    }
}

#[test]
fn what_stands_behind_the_hash_is_for_the_client() {
    let url = parse("prismux://KEY@h/a%23b#via=wlan0,via=192.0.2.1,cost=high").expect("well formed");
    assert_eq!(url.path, "a#b");
    let via = [Via::Interface("wlan0".to_string()), Via::Address([192, 0, 2, 1].into())];
    assert_eq!((url.via.as_slice(), url.cost), (&via[..], Cost(1)));
    assert_eq!(url.to_string().parse(), Ok(url));
}

#[test]
fn bad_urls_say_what_is_wrong() {
    for (text, problem) in [
        ("http://KEY@h/a", "does not begin"),
        ("prismux://KEY@h", "names no object"),
        ("prismux://KEY@h/", "names no object"),
        ("prismux://KEY@h/dir/", "names no object"),
        ("prismux://h/a", "no server key"),
        ("prismux://abc@h/a", "no server key"),
        ("prismux://KEY@:1/a", "names no host"),
        ("prismux://KEY@h:0/a", "port"),
        ("prismux://KEY@2001:db8::1:99/a", "[address]"),
        ("prismux://KEY@[2001:db8::1]99/a", "[address]"),
        ("prismux://KEY@[h]:99/a", "[address]"),
        ("prismux://KEY@h]:99/a", "[address]"),
        ("prismux://KEY@h:70000/a", "port"),
        ("prismux://KEY@h/a#via", "neither via"),
        ("prismux://KEY@h/a#speed=3", "neither via"),
        ("prismux://KEY@h/a#cost=dear", "no cost"),
        ("prismux://KEY@h/a#via=a/b", "neither an interface"),
        ("prismux://KEY@h/a%2", "escape"),
        ("prismux://KEY@h/a%ff", "escape"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(problem) && error.contains("remedy"), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn any_path_survives_the_url(path in "[^/\u{0}][^\u{0}]{0,30}[^/\u{0}]") {
        let (key, host) = (PublicKey([5; 32]), "h".to_string());
        let url = Url { key, host, port: 1, path, via: Vec::new(), cost: Cost(0) };
        prop_assert_eq!(url.to_string().parse(), Ok(url));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "prismux://.{0,80}") {
        let _ = text.parse::<Url>();
    }
}
