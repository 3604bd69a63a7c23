use super::*;

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[test]
fn orders_name_a_server_or_what_to_close() {
    let url = format!("prismux://{KEY}@h/a#via=wlan1");
    let order: Order = format!("use  {url}").parse().expect("well formed");
    assert_eq!(order, Order::Use(Box::new(url.parse().expect("well formed"))));
    let order: Order = "close wlan0 h".parse().expect("well formed");
    assert_eq!(order, Order::Close(vec!["wlan0".to_string(), "h".to_string()]));
}

#[test]
fn other_lines_say_what_would_be_an_order() {
    for line in ["use", "close", "open wlan0", "use a b", "use http://h/a"] {
        let problem = line.parse::<Order>().expect_err(line);
        assert!(problem.contains("use URL") || problem.contains("remedy"), "{line}: {problem}");
    }
}

#[test]
fn a_path_is_known_by_interface_host_and_address() {
    let path = PathName {
        link: "wlan0".to_string(),
        host: "near.example".to_string(),
        server: "[2001:db8::1]:4717".to_string(),
    };
    let fits =
        |names: &[&str]| fits(&names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>(), &path);
    assert!(fits(&["wlan0"]) && fits(&["near.example"]) && fits(&["2001:db8::1", "wlan0"]));
    assert!(!fits(&["wlan1"]) && !fits(&["wlan0", "far.example"]));
}

#[test]
fn lines_are_read_one_by_one_and_none_without_end() {
    let mut reader = BufReader::new("use a\n\nclose b".as_bytes());
    let lines: Vec<String> = std::iter::from_fn(|| next_line(&mut reader)).map(Result::unwrap).collect();
    assert_eq!(lines, ["use a", "", "close b"]);
    // A source that never ends a line.
    let mut reader = BufReader::new(io::repeat(b'x'));
    assert!(matches!(next_line(&mut reader), Some(Err(_))));
}
