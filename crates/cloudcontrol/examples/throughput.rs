//! How fast the emulator is: `cargo run --release --example throughput -- 10000`.

use std::time::Instant;

use groma_cloudcontrol::api::{CreateResource, GetResource};
use groma_cloudcontrol::emulator::{Settings, Store};
use groma_cloudcontrol::schema::Catalogue;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let path = std::env::temp_dir().join(format!("groma-throughput-{}.json", std::process::id()));
    let open = || Store::open(&path, Catalogue::shipped().clone(), Settings::default());
    let store = open()?;
    let mut begun = Instant::now();
    for number in 0..count {
        let request = CreateResource {
            type_name: "AWS::SQS::Queue".to_owned(),
            desired_state: format!(r#"{{"QueueName":"queue-{number}","Tags":[{{"Key":"a","Value":"b"}}]}}"#),
            client_token: Some(format!("token-{number}")),
            role_arn: None,
        };
        let token = store.create_resource("eu-central-1", &request)?.request_token;
        let ended = store.get_resource_request_status(&token)?;
        let identifier = ended.identifier.ok_or("no identifier")?;
        store.get_resource(
            "eu-central-1",
            &GetResource { type_name: "AWS::SQS::Queue".to_owned(), identifier, role_arn: None },
        )?;
        if (number + 1) % (count / 5).max(1) == 0 {
            println!("{:>8} objects: {:?} since the last line", number + 1, begun.elapsed());
            begun = Instant::now();
        }
    }
    drop(store);
    let begun = Instant::now();
    let reopened = open()?;
    println!("opened again in {:?}", begun.elapsed());
    let begun = Instant::now();
    println!("{} objects listed in {:?}", reopened.objects(None)?.len(), begun.elapsed());
    std::fs::remove_file(&path)?;
    Ok(())
}
