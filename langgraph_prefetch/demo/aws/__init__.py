"""``python -m langgraph_prefetch.demo.aws``: the demo across processes, with Bedrock, SQS and DynamoDB on loopback."""
