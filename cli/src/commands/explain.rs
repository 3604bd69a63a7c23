//! `prismux explain`: for each link in a sentence, whether it is used, and why not.
use super::status::pages;
use crate::args::ExplainArguments;
use crate::failure::Failure;
use crate::output::print;
use serde_json::Value;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    let mut found = false;
    for (_, page) in pages(arguments.socket.as_deref())? {
        let links = page["links"].as_array().map_or(&[][..], Vec::as_slice);
        let named = |link: &&Value| arguments.link.as_deref().is_none_or(|name| link["name"] == name);
        for link in links.iter().filter(named) {
            found = true;
            print(sentence(link))?;
        }
        if links.is_empty() {
            print(format!("this {} has no links", page["role"].as_str().unwrap_or("daemon")))?;
        }
    }
    match &arguments.link {
        Some(name) if !found => {
            Err(Failure::Usage(format!("there is no link {name}; compare with: prismux status")))
        }
        _ => Ok(()),
    }
}

/// What is true of a link of a status page.
fn sentence(link: &Value) -> String {
    let text = |key: &str| link[key].as_str();
    let name = text("name").unwrap_or("?");
    let is = |key: &str, value: bool| link[key].as_bool() == Some(value);
    if let Some(refused) = text("refused") {
        let remedy = "Is it plugged in, and has it an address and a default route (ip route), or a router in the file?";
        return format!("{name} is not used: nothing can be sent over it ({refused}). {remedy}");
    }
    if is("silent", true) {
        return format!(
            "{name} is not used: it has stopped to answer. It is asked again and again, and used once it does."
        );
    }
    if is("registered", false) {
        let remedy = "Is the gateway up, its UDP port open, and this home listed there?";
        return format!("{name} is not used: the gateway has not answered over it. {remedy}");
    }
    if is("up", false) {
        let heard = link["last_heard_s"].as_f64().map_or(String::new(), |s| format!(" for {s:.0} s"));
        return format!("{name} is not used: nothing has been heard from it{heard}.");
    }
    let reason = text("reason").unwrap_or("nothing has been sent over it yet");
    let mut facts = vec![reason.to_owned()];
    facts.extend(link["rate_bps"].as_f64().map(|bps| format!("{:.1} Mbit/s learned", bps / 1e6)));
    facts.extend(link["min_rtt_s"].as_f64().map(|s| format!("round trip {:.0} ms", s * 1e3)));
    facts.extend(
        link["loss"].as_f64().filter(|loss| *loss > 0.0).map(|loss| format!("{:.1} % lost", loss * 100.0)),
    );
    let verb = match text("state") {
        Some("standby" | "silent" | "down") => "is not used now",
        _ => "is used",
    };
    format!("{name} {verb}: {}.", facts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::sentence;
    use serde_json::json;

    #[test]
    fn a_sentence_says_whether_a_link_is_used_and_why_not() {
        let used = json!({ "name": "wan0", "up": true, "registered": true, "silent": false, "refused": null,
            "state": "active", "reason": "carries traffic", "rate_bps": 18_400_000, "min_rtt_s": 0.041, "loss": 0.0 });
        assert_eq!(sentence(&used), "wan0 is used: carries traffic, 18.4 Mbit/s learned, round trip 41 ms.");
        let standby = json!({ "name": "wan1", "up": true, "state": "standby", "reason": "loses too many packets",
            "loss": 0.31 });
        assert_eq!(sentence(&standby), "wan1 is not used now: loses too many packets, 31.0 % lost.");
        for (key, value, expected) in [
            ("refused", json!("wan1: Network is unreachable"), "nothing can be sent over it"),
            ("silent", json!(true), "has stopped to answer"),
            ("registered", json!(false), "the gateway has not answered"),
            ("up", json!(false), "nothing has been heard"),
        ] {
            let mut link = used.clone();
            link[key] = value;
            assert!(
                sentence(&link).starts_with("wan0 is not used: ") && sentence(&link).contains(expected),
                "{key}"
            );
        }
    }
}
