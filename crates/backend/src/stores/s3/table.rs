//! Requests to a DynamoDB table.

use groma_cloud::aws::{AwsClient, AwsRequest, AwsService, RequestError};
use serde_json::{Map, Value as Json, json};

use super::errors::Subject;
use crate::error::StoreError;
use crate::stores::lock_table::{Columns, KEY, LockTable, RowCondition, RowOutcome, Rows};

const TARGET: &str = "DynamoDB_20120810";

/// The locks and digests in DynamoDB.
pub(super) type Table = LockTable<DynamoRows>;

/// The rows of one table.
pub(super) struct DynamoRows {
    pub client: AwsClient,
    pub name: String,
}

/// Adds the condition to a request. Placeholders keep column names from being taken for words of the expression language.
fn with_condition(mut body: Json, condition: RowCondition<'_>) -> Json {
    match condition {
        RowCondition::None => {}
        RowCondition::Absent => body["ConditionExpression"] = json!(format!("attribute_not_exists({KEY})")),
        RowCondition::NoColumn(name) => {
            // A missing item has no attributes either, and must not count as this one.
            body["ConditionExpression"] = json!(format!("attribute_exists({KEY}) AND attribute_not_exists(#column)"));
            body["ExpressionAttributeNames"] = json!({ "#column": name });
        }
        RowCondition::Column(name, value) => {
            body["ConditionExpression"] = json!("#column = :value");
            body["ExpressionAttributeNames"] = json!({ "#column": name });
            body["ExpressionAttributeValues"] = json!({ ":value": { "S": value } });
        }
    }
    body
}

impl DynamoRows {
    /// Sends a request; `None` if its condition does not hold.
    async fn call(
        &self,
        operation: &'static str,
        action: &'static str,
        body: &Json,
    ) -> Result<Option<Json>, StoreError> {
        let request = AwsRequest::json(AwsService::DYNAMODB, TARGET, operation, "1.0", body.to_string().into_bytes());
        match self.client.send(request).await {
            Ok(response) => Ok(Some(serde_json::from_slice(&response.body).unwrap_or_default())),
            Err(problem) if problem.code() == Some("ConditionalCheckFailedException") => Ok(None),
            Err(problem) => Err(self.failed(action, &problem)),
        }
    }

    fn failed(&self, action: &'static str, problem: &RequestError) -> StoreError {
        let location = format!("dynamodb table {}", self.name);
        Subject { service: "DynamoDB", location: &location, container: &self.name, action }.error(problem)
    }
}

fn outcome(answer: Option<Json>) -> RowOutcome {
    answer.map_or(RowOutcome::Refused, |_| RowOutcome::Done)
}

impl Rows for DynamoRows {
    fn name(&self) -> &str {
        &self.name
    }

    async fn get(&self, key: &str, action: &'static str) -> Result<Option<Columns>, StoreError> {
        let body = json!({ "TableName": self.name, "Key": { KEY: { "S": key } }, "ConsistentRead": true });
        let mut answer = self.call("GetItem", action, &body).await?.unwrap_or_default();
        let Json::Object(item) = answer["Item"].take() else { return Ok(None) };
        let text = |(name, value): (String, Json)| Some((name, value["S"].as_str()?.to_owned()));
        Ok(Some(item.into_iter().filter_map(text).collect()))
    }

    async fn put(
        &self,
        key: &str,
        columns: &[(&str, &str)],
        condition: RowCondition<'_>,
        action: &'static str,
    ) -> Result<RowOutcome, StoreError> {
        let columns = [(KEY, key)].into_iter().chain(columns.iter().copied());
        let item: Map<String, Json> = columns.map(|(name, value)| (name.to_owned(), json!({ "S": value }))).collect();
        let body = with_condition(json!({ "TableName": self.name, "Item": item }), condition);
        Ok(outcome(self.call("PutItem", action, &body).await?))
    }

    async fn delete(
        &self,
        key: &str,
        condition: RowCondition<'_>,
        action: &'static str,
    ) -> Result<RowOutcome, StoreError> {
        let body = with_condition(json!({ "TableName": self.name, "Key": { KEY: { "S": key } } }), condition);
        Ok(outcome(self.call("DeleteItem", action, &body).await?))
    }
}
