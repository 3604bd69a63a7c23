//! Whether a link of a status page is used, and why not, in words: for `prismux explain`, `prismux top` and the page.
use serde::Serialize;
use serde_json::Value;

/// What becomes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// It carries traffic, or would.
    Used,
    /// It is left out: because it would slow others down, or by its owner's wish.
    Resting,
    /// It has stopped to answer, and is asked again and again.
    Silent,
    /// Nothing can be sent over it, or nobody has answered over it.
    Down,
}

impl Use {
    /// The name on pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Resting => "resting",
            Self::Silent => "silent",
            Self::Down => "down",
        }
    }
}

/// What becomes of a link, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// What becomes of it.
    #[serde(rename = "use")]
    pub used: Use,
    /// Why, without a full stop; may be two sentences.
    pub why: String,
}

/// What is true of a link of a status page.
pub fn link(link: &Value) -> Explained {
    let text = |key: &str| link[key].as_str();
    let is = |key: &str, value: bool| link[key].as_bool() == Some(value);
    let explained = |used: Use, why: String| Explained { used, why };
    if let Some(rests) = text("rests") {
        return explained(Use::Resting, rests.to_owned());
    }
    if let Some(refused) = text("refused") {
        let remedy = "Is it plugged in, and has it an address and a default route (ip route), or a router in the file?";
        return explained(Use::Down, format!("nothing can be sent over it ({refused}). {remedy}"));
    }
    if is("silent", true) {
        let why = "it has stopped to answer. It is asked again and again, and used once it does";
        return explained(Use::Silent, why.to_owned());
    }
    if is("registered", false) {
        let remedy = "Is the gateway up, its UDP port open, and this home listed there?";
        return explained(Use::Down, format!("the gateway has not answered over it. {remedy}"));
    }
    if is("up", false) {
        let heard = link["last_heard_s"].as_f64().map_or(String::new(), |s| format!(" for {s:.0} s"));
        return explained(Use::Down, format!("nothing has been heard from it{heard}"));
    }
    // On a member's own page there is no state of a link, but that of its registration.
    match text("state") {
        Some("registered") => return explained(Use::Used, "registered at the proxy".to_owned()),
        Some("calling") => return explained(Use::Down, "the proxy has not answered".to_owned()),
        _ => {}
    }
    let reason = text("reason").unwrap_or("nothing has been sent over it yet");
    let used = match text("state") {
        Some("standby") => Use::Resting,
        Some("silent") => Use::Silent,
        Some("down") => Use::Down,
        _ => Use::Used,
    };
    explained(used, reason.to_owned())
}

/// What is true of a link of a status page, with its name and what is known of it, as a sentence.
pub fn sentence(page: &Value) -> String {
    let name = page["name"].as_str().unwrap_or("?");
    let Explained { used, why } = link(page);
    let has_reason = page["up"].as_bool() != Some(false) && page["silent"].as_bool() != Some(true);
    let is_told = page["rests"].is_string()
        || page["refused"].is_string()
        || page["registered"].as_bool() == Some(false);
    if is_told || !has_reason {
        let stop = if why.ends_with('?') { "" } else { "." };
        return format!("{name} is not used: {why}{stop}");
    }
    let mut facts = vec![why];
    facts.extend(page["rate_bps"].as_f64().map(|bps| format!("{:.1} Mbit/s learned", bps / 1e6)));
    facts.extend(
        page["path_mtu_bytes"].as_u64().map(|bytes| format!("takes packets of {bytes} bytes at most")),
    );
    facts.extend(page["min_rtt_s"].as_f64().map(|s| format!("round trip {:.0} ms", s * 1e3)));
    facts.extend(
        page["loss"].as_f64().filter(|loss| *loss > 0.0).map(|loss| format!("{:.1} % lost", loss * 100.0)),
    );
    let verb = if used == Use::Used { "is used" } else { "is not used now" };
    format!("{name} {verb}: {}.", facts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Use, link, sentence};
    use serde_json::json;

    #[test]
    fn a_sentence_says_whether_a_link_is_used_and_why_not() {
        let used = json!({ "name": "wan0", "up": true, "registered": true, "silent": false, "refused": null,
            "state": "active", "reason": "carries traffic", "rate_bps": 18_400_000, "min_rtt_s": 0.041, "loss": 0.0 });
        assert_eq!(sentence(&used), "wan0 is used: carries traffic, 18.4 Mbit/s learned, round trip 41 ms.");
        assert_eq!(link(&used).used, Use::Used);
        let narrow = json!({ "name": "wan1", "up": true, "state": "active", "reason": "carries traffic",
            "path_mtu_bytes": 1400 });
        assert_eq!(sentence(&narrow), "wan1 is used: carries traffic, takes packets of 1400 bytes at most.");
        let standby = json!({ "name": "wan1", "up": true, "state": "standby", "reason": "loses too many packets",
            "loss": 0.31 });
        assert_eq!(sentence(&standby), "wan1 is not used now: loses too many packets, 31.0 % lost.");
        assert_eq!(link(&standby).used, Use::Resting);
        for (key, value, found, expected) in [
            (
                "rests",
                json!("its cap of 5 GB a month is used up until 1 December"),
                Use::Resting,
                "its cap of 5 GB",
            ),
            ("refused", json!("wan1: Network is unreachable"), Use::Down, "nothing can be sent over it"),
            ("silent", json!(true), Use::Silent, "it has stopped to answer"),
            ("registered", json!(false), Use::Down, "the gateway has not answered"),
            ("up", json!(false), Use::Down, "nothing has been heard"),
        ] {
            let mut page = used.clone();
            page[key] = value;
            let said = sentence(&page);
            assert!(said.starts_with("wan0 is not used: ") && said.contains(expected), "{said}");
            assert!(said.ends_with('?') || said.ends_with('.'), "{said}");
            assert_eq!(link(&page).used, found);
        }
        assert_eq!(link(&json!({ "name": "phone", "state": "calling" })).used, Use::Down);
        assert_eq!(link(&json!({ "name": "phone", "state": "registered" })).used, Use::Used);
    }
}
