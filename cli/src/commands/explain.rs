//! `prismux explain`: for each link in a sentence, whether it is used, and why not.
use super::status::pages;
use crate::args::ExplainArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::explain::sentence;
use prismux_daemons::figures::links_of;
use serde_json::Value;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    let mut found = false;
    for (_, page) in pages(arguments.socket.as_deref())? {
        let links = links_of(&page);
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
